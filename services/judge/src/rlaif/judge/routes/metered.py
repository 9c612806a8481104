"""A language model whose tokens are counted, whoever asked: a vote, a canary, a comparison."""

from collections.abc import Callable

from rlaif.llm.ports import Answer, CompletionRequest, LanguageModel

_CHARACTERS_A_TOKEN = 3


class MeteredModel:
    """Tells how many tokens each answer cost.

    What the server does not say is estimated, rather too high than too low. Calls without an answer
    are not counted: nobody knows how far the server came.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        prompt_tokens: Callable[[CompletionRequest], int],
        on_spent: Callable[[int], None],
    ) -> None:
        """`prompt_tokens` estimates what a request takes to read."""
        self._model = model
        self._prompt_tokens = prompt_tokens
        self._on_spent = on_spent

    async def complete(self, request: CompletionRequest) -> Answer:
        """Ask once, and tell what it cost."""
        answer = await self._model.complete(request)
        read, written = answer.prompt_tokens, answer.completion_tokens
        if read is None:
            read = self._prompt_tokens(request)
        if written is None:
            written = 1 + len(answer.text) // _CHARACTERS_A_TOKEN
        self._on_spent(read + written)
        return answer
