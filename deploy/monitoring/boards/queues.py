"""Queues and dead letters: pending events, their age, and dead letters."""

from panels import Dashboard, Panel, rates

_LEADER = 'is_consumer_leader="true"'
"""Only the leader of a cluster reports the correct count."""

QUEUES = Dashboard(
    "queues",
    "Queues and dead letters",
    "Pending events, their age, and dead letters.",
    {
        "Queues": (
            Panel(
                "Pending events",
                {
                    "max by (stream_name, consumer_name) "
                    f"(nats_consumer_num_pending{{{_LEADER}}})": "{{consumer_name}}"
                },
                "Not delivered yet. The trainer stops capturing at TRAINER_JUDGE_BACKLOG.",
            ),
            Panel(
                "Events in flight",
                {
                    "max by (stream_name, consumer_name) "
                    f"(nats_consumer_num_ack_pending{{{_LEADER}}})": "{{consumer_name}}"
                },
                "Delivered and not acknowledged, including those waiting for a retry.",
            ),
            Panel(
                "Redelivered",
                {
                    "max by (stream_name, consumer_name) "
                    f"(nats_consumer_num_redelivered{{{_LEADER}}})": "{{consumer_name}}"
                },
                "Of those in flight.",
            ),
            Panel(
                "Age of processed events",
                {
                    f"histogram_quantile({q}, sum by (job, le) (rate("
                    '{__name__=~"rlaif_.+_event_age_seconds_bucket"}[$__rate_interval])))': (
                        f"{{{{job}}}} {word}"
                    )
                    for q, word in ((0.5, "half"), (0.9, "nine in ten"))
                },
                "From publication to the end of the handler.",
                unit="s",
                width=12,
            ),
            Panel(
                "Handler duration",
                {
                    "histogram_quantile(0.9, sum by (job, event, le) (rate("
                    '{__name__=~"rlaif_.+_event_seconds_bucket"}[$__rate_interval])))': (
                        "{{job}} {{event}}"
                    )
                },
                "90th percentile.",
                unit="s",
                width=12,
            ),
        ),
        "Dead letters and failed events": (
            Panel(
                "Dead letters",
                {
                    'max(nats_stream_total_messages{stream_name="DEAD",is_stream_leader="true"})': (
                        "kept"
                    )
                },
            ),
            Panel(
                "Given up",
                {
                    "sum by (job, event) (increase("
                    '{__name__=~"rlaif_.+_events_total",outcome="rejected"}[1h]))': (
                        "{{job}} {{event}}"
                    )
                },
                "Within an hour.",
            ),
            Panel(
                "Crashed replays and RAM mismatches",
                {
                    "sum by (why) (increase(rlaif_exporter_lost_replays_total[1h]))": "{{why}}",
                    "sum(increase(rlaif_exporter_ram_mismatches_total[1h]))": "other RAM",
                },
                "Within an hour.",
            ),
        ),
        "Export": (
            Panel(
                "Export duration",
                {
                    "histogram_quantile(0.9, sum by (le) (rate("
                    "rlaif_exporter_export_seconds_bucket[$__rate_interval])))": "nine in ten"
                },
                unit="s",
            ),
            Panel(
                "Frames replayed per second",
                {"sum(rate(rlaif_exporter_replayed_frames_total[$__rate_interval]))": "frames"},
            ),
            Panel("Segments", rates("rlaif_exporter_segments_total", "result"), unit="ops"),
        ),
    },
)
