"""The dashboards and their Prometheus queries."""

from boards.judges import JUDGES
from boards.loop import LOOP
from boards.planner import PLANNER
from boards.queues import QUEUES
from boards.reward_model import REWARD_MODEL
from boards.servers import SERVERS
from boards.trainer import TRAINER

DASHBOARDS = (LOOP, JUDGES, REWARD_MODEL, TRAINER, PLANNER, QUEUES, SERVERS)
