from nats.aio.client import Client
from nats.aio.msg import Msg

from rlaif.bus.link import Mailbox


async def test_a_full_mailbox_drops_the_oldest_message():
    mailbox = Mailbox(2)
    client = Client()
    for payload in (b"1", b"2", b"3"):
        await mailbox.deliver(Msg(client, subject="telemetry.map", data=payload))
    mailbox.close()
    assert [message async for message in mailbox] == [
        ("telemetry.map", b"2"),
        ("telemetry.map", b"3"),
    ]
