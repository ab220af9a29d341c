"""The Celery application of both processes: Redis as its broker, no results, as little talk between workers as it allows."""

import json
import sys

from celery import Celery

OPTIONS = json.loads(sys.argv[-1])
QUEUE = "bench"

app = Celery("bench", broker=f"redis://127.0.0.1:{OPTIONS['redisPort']}/0")
app.conf.update(
    task_ignore_result=True,
    task_default_queue=QUEUE,
    worker_send_task_events=False,
    # READY is for the harness, not for the log.
    worker_redirect_stdouts=False,
    worker_enable_remote_control=False,
    broker_connection_retry_on_startup=True,
)
