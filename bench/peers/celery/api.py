"""Celery behind the least API: POST /api/jobs without validation. It sends one message a request: it has no batch.

The event loop sends by itself: a thread for each push would only pass the interpreter's lock around.
"""

import json
import sys

import uvicorn

from app import OPTIONS, QUEUE, app

producer = app.producer_pool.acquire(block=True)


async def answer(send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def read(receive) -> bytes:
    chunks = []
    while True:
        message = await receive()
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)


async def take_in(scope, receive, send) -> None:
    push = json.loads(await read(receive))
    when = {}
    if "run_at" in push:
        when = {"eta": push["run_at"]}
    elif push.get("delay", 0) > 0:
        when = {"countdown": push["delay"]}
    sent = app.send_task(
        "call", args=(push["url"], push["payload"]), queue=QUEUE, producer=producer, ignore_result=True, **when
    )
    await answer(send, 201, b'{"success":true,"job_id":"%s"}' % sent.id.encode())


class Server(uvicorn.Server):
    async def startup(self, sockets=None) -> None:
        await super().startup(sockets)
        print("READY", flush=True)


config = uvicorn.Config(
    take_in, host="127.0.0.1", port=OPTIONS["port"], loop="uvloop", http="httptools",
    interface="asgi3", lifespan="off", access_log=False, log_level="error", backlog=8192,
)
Server(config).run()
sys.exit(0)
