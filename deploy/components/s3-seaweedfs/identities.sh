# Written by docs/generate.py from rlaif.servers.identities. Do not edit.
cat <<END
{
 "identities": [
  {
   "name": "admin",
   "credentials": [
    {
     "accessKey": "$S3_ADMIN_ACCESS_KEY",
     "secretKey": "$S3_ADMIN_SECRET_KEY"
    }
   ],
   "actions": [
    "Admin",
    "Read",
    "Write",
    "List",
    "Tagging"
   ]
  },
  {
   "name": "trainer",
   "credentials": [
    {
     "accessKey": "trainer",
     "secretKey": "$S3_TRAINER_SECRET_KEY"
    }
   ],
   "policyNames": [
    "trainer"
   ]
  },
  {
   "name": "exporter",
   "credentials": [
    {
     "accessKey": "exporter",
     "secretKey": "$S3_EXPORTER_SECRET_KEY"
    }
   ],
   "policyNames": [
    "exporter"
   ]
  },
  {
   "name": "judge",
   "credentials": [
    {
     "accessKey": "judge",
     "secretKey": "$S3_JUDGE_SECRET_KEY"
    }
   ],
   "policyNames": [
    "judge"
   ]
  },
  {
   "name": "reward-model",
   "credentials": [
    {
     "accessKey": "reward-model",
     "secretKey": "$S3_REWARD_MODEL_SECRET_KEY"
    }
   ],
   "policyNames": [
    "reward-model"
   ]
  },
  {
   "name": "hud",
   "credentials": [
    {
     "accessKey": "hud",
     "secretKey": "$S3_HUD_SECRET_KEY"
    }
   ],
   "policyNames": [
    "hud"
   ]
  }
 ],
 "policies": [
  {
   "name": "trainer",
   "content": "{\"Version\": \"2012-10-17\", \"Statement\": [{\"Effect\": \"Allow\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/captures/*\", \"arn:aws:s3:::zelda-episodes/keyframes/*\", \"arn:aws:s3:::zelda-episodes/rooms/*\", \"arn:aws:s3:::zelda-episodes/probe/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:PutObject\", \"s3:DeleteObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/captures/*\", \"arn:aws:s3:::zelda-episodes/keyframes/*\", \"arn:aws:s3:::zelda-episodes/rooms/*\", \"arn:aws:s3:::zelda-episodes/probe/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:ListBucket\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-models/reward_model/*\", \"arn:aws:s3:::zelda-models/checkpoints/*\", \"arn:aws:s3:::zelda-models/evaluations/*\", \"arn:aws:s3:::zelda-models/pipeline/*\", \"arn:aws:s3:::zelda-models/probe/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:PutObject\", \"s3:DeleteObject\"], \"Resource\": [\"arn:aws:s3:::zelda-models/checkpoints/*\", \"arn:aws:s3:::zelda-models/evaluations/*\", \"arn:aws:s3:::zelda-models/pipeline/*\", \"arn:aws:s3:::zelda-models/probe/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:ListBucket\"], \"Resource\": [\"arn:aws:s3:::zelda-models\"]}]}"
  },
  {
   "name": "exporter",
   "content": "{\"Version\": \"2012-10-17\", \"Statement\": [{\"Effect\": \"Allow\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/captures/*\", \"arn:aws:s3:::zelda-episodes/keyframes/*\", \"arn:aws:s3:::zelda-episodes/*\", \"arn:aws:s3:::zelda-episodes/probe/*\"]}, {\"Effect\": \"Deny\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/checkpoints/*\", \"arn:aws:s3:::zelda-episodes/comparisons/*\", \"arn:aws:s3:::zelda-episodes/evaluations/*\", \"arn:aws:s3:::zelda-episodes/pipeline/*\", \"arn:aws:s3:::zelda-episodes/rejudge/*\", \"arn:aws:s3:::zelda-episodes/rejudged/*\", \"arn:aws:s3:::zelda-episodes/reward_model/*\", \"arn:aws:s3:::zelda-episodes/rooms/*\", \"arn:aws:s3:::zelda-episodes/scores/*\", \"arn:aws:s3:::zelda-episodes/spent_tokens/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:PutObject\", \"s3:DeleteObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/*\", \"arn:aws:s3:::zelda-episodes/probe/*\"]}, {\"Effect\": \"Deny\", \"Action\": [\"s3:PutObject\", \"s3:DeleteObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/captures/*\", \"arn:aws:s3:::zelda-episodes/checkpoints/*\", \"arn:aws:s3:::zelda-episodes/comparisons/*\", \"arn:aws:s3:::zelda-episodes/evaluations/*\", \"arn:aws:s3:::zelda-episodes/keyframes/*\", \"arn:aws:s3:::zelda-episodes/pipeline/*\", \"arn:aws:s3:::zelda-episodes/rejudge/*\", \"arn:aws:s3:::zelda-episodes/rejudged/*\", \"arn:aws:s3:::zelda-episodes/reward_model/*\", \"arn:aws:s3:::zelda-episodes/rooms/*\", \"arn:aws:s3:::zelda-episodes/scores/*\", \"arn:aws:s3:::zelda-episodes/spent_tokens/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:ListBucket\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes\"]}]}"
  },
  {
   "name": "judge",
   "content": "{\"Version\": \"2012-10-17\", \"Statement\": [{\"Effect\": \"Allow\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/*\", \"arn:aws:s3:::zelda-episodes/comparisons/*\", \"arn:aws:s3:::zelda-episodes/rejudge/*\", \"arn:aws:s3:::zelda-episodes/rejudged/*\", \"arn:aws:s3:::zelda-episodes/scores/*\", \"arn:aws:s3:::zelda-episodes/spent_tokens/*\", \"arn:aws:s3:::zelda-episodes/probe/*\"]}, {\"Effect\": \"Deny\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/captures/*\", \"arn:aws:s3:::zelda-episodes/checkpoints/*\", \"arn:aws:s3:::zelda-episodes/evaluations/*\", \"arn:aws:s3:::zelda-episodes/keyframes/*\", \"arn:aws:s3:::zelda-episodes/pipeline/*\", \"arn:aws:s3:::zelda-episodes/reward_model/*\", \"arn:aws:s3:::zelda-episodes/rooms/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:PutObject\", \"s3:DeleteObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/comparisons/*\", \"arn:aws:s3:::zelda-episodes/rejudge/*\", \"arn:aws:s3:::zelda-episodes/rejudged/*\", \"arn:aws:s3:::zelda-episodes/scores/*\", \"arn:aws:s3:::zelda-episodes/spent_tokens/*\", \"arn:aws:s3:::zelda-episodes/probe/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:ListBucket\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-models/reward_model/wanted_comparisons.json*\", \"arn:aws:s3:::zelda-models/evaluations/epoch_*\", \"arn:aws:s3:::zelda-models/probe/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:PutObject\", \"s3:DeleteObject\"], \"Resource\": [\"arn:aws:s3:::zelda-models/evaluations/epoch_*\", \"arn:aws:s3:::zelda-models/probe/*\"]}]}"
  },
  {
   "name": "reward-model",
   "content": "{\"Version\": \"2012-10-17\", \"Statement\": [{\"Effect\": \"Allow\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/*\", \"arn:aws:s3:::zelda-episodes/comparisons/*\", \"arn:aws:s3:::zelda-episodes/scores/*\", \"arn:aws:s3:::zelda-episodes/probe/*\"]}, {\"Effect\": \"Deny\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/captures/*\", \"arn:aws:s3:::zelda-episodes/checkpoints/*\", \"arn:aws:s3:::zelda-episodes/evaluations/*\", \"arn:aws:s3:::zelda-episodes/keyframes/*\", \"arn:aws:s3:::zelda-episodes/pipeline/*\", \"arn:aws:s3:::zelda-episodes/rejudge/*\", \"arn:aws:s3:::zelda-episodes/rejudged/*\", \"arn:aws:s3:::zelda-episodes/reward_model/*\", \"arn:aws:s3:::zelda-episodes/rooms/*\", \"arn:aws:s3:::zelda-episodes/spent_tokens/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:ListBucket\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-models/reward_model/*\", \"arn:aws:s3:::zelda-models/probe/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:PutObject\", \"s3:DeleteObject\"], \"Resource\": [\"arn:aws:s3:::zelda-models/reward_model/*\", \"arn:aws:s3:::zelda-models/probe/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:ListBucket\"], \"Resource\": [\"arn:aws:s3:::zelda-models\"]}]}"
  },
  {
   "name": "hud",
   "content": "{\"Version\": \"2012-10-17\", \"Statement\": [{\"Effect\": \"Allow\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/*\", \"arn:aws:s3:::zelda-episodes/rejudged/*\", \"arn:aws:s3:::zelda-episodes/rooms/*\", \"arn:aws:s3:::zelda-episodes/scores/*\", \"arn:aws:s3:::zelda-episodes/probe/*\"]}, {\"Effect\": \"Deny\", \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes/captures/*\", \"arn:aws:s3:::zelda-episodes/checkpoints/*\", \"arn:aws:s3:::zelda-episodes/comparisons/*\", \"arn:aws:s3:::zelda-episodes/evaluations/*\", \"arn:aws:s3:::zelda-episodes/keyframes/*\", \"arn:aws:s3:::zelda-episodes/pipeline/*\", \"arn:aws:s3:::zelda-episodes/rejudge/*\", \"arn:aws:s3:::zelda-episodes/reward_model/*\", \"arn:aws:s3:::zelda-episodes/spent_tokens/*\"]}, {\"Effect\": \"Allow\", \"Action\": [\"s3:ListBucket\"], \"Resource\": [\"arn:aws:s3:::zelda-episodes\"]}]}"
  }
 ]
}
END
