"""Pipeline overview: segments captured, exported, scored; models trained and loaded."""

from panels import Dashboard, Panel, rates

LOOP = Dashboard(
    "loop",
    "Loop overview",
    "Segments captured, exported, scored; models trained and loaded.",
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
                "Version in use by the trainer; follows the champion within one iteration.",
                kind="stat",
                width=4,
            ),
            Panel(
                "Labels",
                {"max(rlaif_reward_model_labels)": "labels"},
                "Labels for the next training.",
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
                "Dead letters of a consumer.",
                kind="stat",
                width=4,
            ),
            Panel(
                "Number of failing checks",
                {'count({__name__=~"rlaif_.+_check_ok"} == 0) or vector(0)': "failing"},
                "Of all checks of /readyz.",
                kind="stat",
                width=4,
            ),
        ),
        "Segments": (
            Panel(
                "Segments per minute",
                {
                    "60 * sum(rate(rlaif_trainer_segments_captured[$__rate_interval]))": "captured",
                    "60 * sum(rate(rlaif_exporter_segments_total"
                    '{result="exported"}[$__rate_interval]))': "exported",
                    "60 * sum(rate(rlaif_judge_scores_total"
                    '{result!="repeated"}[$__rate_interval]))': "scored",
                },
                "The three curves coincide while the pipeline keeps up.",
            ),
            Panel(
                "Age of processed events",
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
                "Events by outcome",
                {
                    "sum by (job, outcome) (rate("
                    '{__name__=~"rlaif_.+_events_total",outcome!=""}[$__rate_interval]))': (
                        "{{job}} {{outcome}}"
                    )
                },
                "Retried: an outage of a dependency; rejected: a dead letter.",
                unit="ops",
            ),
        ),
        "Services": (
            Panel(
                "Failing checks",
                {'{__name__=~"rlaif_.+_check_ok"} == 0': "{{job}}: {{check}}"},
                "Each series is a failing /readyz check; the page shows the reason.",
                width=12,
                maximum=1,
            ),
            Panel(
                "Responding processes",
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
                "95th percentile.",
                unit="s",
            ),
        ),
    },
)
