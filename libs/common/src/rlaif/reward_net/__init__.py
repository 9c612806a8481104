"""The reward network that the trainer and the reward-model service share.

The only package of libs/common that imports torch.
"""
