"""Loop overview: does the ring go round: captured, exported, scored, learned, loaded."""

from panels import Dashboard, Panel, rates

LOOP = Dashboard(
    "loop",
    "Loop overview",
    "Does the ring go round: captured, exported, scored, learned, loaded.",
    {
        "Now": (
            Panel(
                "Live reward model",
                {"max(rlaif_reward_model_champion_version)": "live"},
                "Version of the champion; 0 for none.",
                kind="stat",
                width=4,
            ),
            Panel(
                "Loaded by the trainer",
                {"max(rlaif_trainer_reward_model_version)": "loaded"},
                "Version that shapes rewards. It follows the champion within an iteration.",
                kind="stat",
                width=4,
            ),
            Panel(
                "Labels",
                {"max(rlaif_reward_model_labels)": "labels"},
                "What the next training learns from.",
                kind="stat",
                width=4,
            ),
            Panel(
                "Steps",
                {"max(rlaif_trainer_env_steps)": "steps"},
                "Environment steps of the run.",
                kind="stat",
                width=4,
            ),
            Panel(
                "Dead letters",
                {
                    'max(nats_stream_total_messages{stream_name="DEAD",is_stream_leader="true"})': (
                        "dead letters"
                    )
                },
                "Events that a consumer gave up on.",
                kind="stat",
                width=4,
            ),
            Panel(
                "Checks that fail",
                {'count({__name__=~"rlaif_.+_check_ok"} == 0) or vector(0)': "failing"},
                "Of all checks of /readyz.",
                kind="stat",
                width=4,
            ),
        ),
        "Segments": (
            Panel(
                "Segments a minute",
                {
                    "60 * sum(rate(rlaif_trainer_segments_captured[$__rate_interval]))": "captured",
                    "60 * sum(rate(rlaif_exporter_segments_total"
                    '{result="exported"}[$__rate_interval]))': "exported",
                    "60 * sum(rate(rlaif_judge_scores_total"
                    '{result!="repeated"}[$__rate_interval]))': "scored",
                },
                "The three lie upon each other while the ring keeps up.",
            ),
            Panel(
                "Age of events when they are answered",
                {
                    "histogram_quantile(0.9, sum by (job, le) (rate("
                    '{__name__=~"rlaif_.+_event_age_seconds_bucket"}[$__rate_interval])))': (
                        "{{job}}, nine in ten"
                    )
                },
                "From publication to the end of the handler: queue and work.",
                unit="s",
            ),
            Panel(
                "Events by how they ended",
                {
                    "sum by (job, outcome) (rate("
                    '{__name__=~"rlaif_.+_events_total",outcome!=""}[$__rate_interval]))': (
                        "{{job}} {{outcome}}"
                    )
                },
                "Retried is an outage of something; rejected is a dead letter.",
                unit="ops",
            ),
        ),
        "Services": (
            Panel(
                "Failing checks",
                {'{__name__=~"rlaif_.+_check_ok"} == 0': "{{job}}: {{check}}"},
                "A line is a check of /readyz that does not hold; the page says why.",
                width=12,
                most=1,
            ),
            Panel(
                "Processes that answer",
                {
                    'sum by (job) (up{job=~"trainer|exporter|judge|reward-model|hud|nats"})': (
                        "{{job}}"
                    )
                },
                width=12,
            ),
            Panel(
                "Memory",
                {"sum by (job, instance) (process_resident_memory_bytes)": "{{job}} {{instance}}"},
                "Of the service's own process, not of its children.",
                unit="bytes",
            ),
            Panel(
                "CPU",
                rates("process_cpu_seconds_total", "job"),
                "Cores of the services' own processes.",
            ),
            Panel(
                "Slow requests",
                {
                    "histogram_quantile(0.95, sum by (job, le) (rate("
                    '{__name__=~"rlaif_.+_http_request_seconds_bucket"}[$__rate_interval])))': (
                        "{{job}}"
                    )
                },
                "One request in twenty takes longer.",
                unit="s",
            ),
        ),
    },
)
