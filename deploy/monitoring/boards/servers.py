"""NATS and Ray servers."""

from panels import Dashboard, Panel

SERVERS = Dashboard(
    "nats-and-ray",
    "NATS and Ray",
    "NATS and Ray servers. Ray's panels are empty unless the trainer uses a Ray cluster.",
    {
        "NATS": (
            Panel(
                "Bytes of a stream",
                {
                    "max by (stream_name) "
                    '(nats_stream_total_bytes{is_stream_leader="true"})': "{{stream_name}}"
                },
                "Limit: NATS_STREAM_MIB; half of it for REWARD_MODELS, a quarter for HISTORY.",
                unit="bytes",
            ),
            Panel(
                "Events of a stream",
                {
                    "max by (stream_name) "
                    '(nats_stream_total_messages{is_stream_leader="true"})': "{{stream_name}}"
                },
            ),
            Panel("Connections", {"nats_varz_connections": "{{instance}}"}),
            Panel("Slow consumers", {"nats_varz_slow_consumers": "{{instance}}"}),
            Panel("Memory", {"nats_varz_mem": "{{instance}}"}, unit="bytes"),
        ),
        "Ray": (
            Panel(
                "CPU of a node",
                {"ray_node_cpu_utilization": "{{instance}}"},
                "Per cent.",
                unit="percent",
                maximum=100,
            ),
            Panel(
                "Memory of a node",
                {
                    "ray_node_mem_used": "{{instance}} used",
                    "ray_node_mem_total": "{{instance}} all",
                },
                unit="bytes",
            ),
            Panel(
                "Object store",
                {"sum by (Location) (ray_object_store_memory)": "{{Location}}"},
                unit="bytes",
            ),
            Panel(
                "Actors",
                {"sum by (Name, State) (ray_actors)": "{{Name}} {{State}}"},
                "Environment runners are actors: fewer of them alive means slower sampling.",
            ),
            Panel(
                "CPUs of the cluster",
                {'sum by (State) (ray_resources{Name="CPU"})': "{{State}}"},
            ),
            Panel(
                "Nodes",
                {"count(ray_node_cpu_count)": "nodes"},
                "Runners on a disconnected node are unavailable until it returns.",
            ),
        ),
    },
)
