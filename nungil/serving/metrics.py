"""Metrics for Prometheus. Labels come from fixed sets, and never contain keys or texts."""

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

PATHS = (
    *("/v1/translate", "/v1/classify", "/v1/look", "/v1/explain", "/v1/intervene", "/v1/models"),
    *("/translate", "/detect", "/languages", "/frontend/settings", "/livez", "/readyz", "/metrics", "/openapi.json"),
)
OTHER = "other"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128)
TOKENS = (8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096)
OF_LATE = 0.2  # weight of the last batch in the rate
DROPPED = ("deadline", "client", "full")


class Metrics:
    """The metrics of one server, in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        made: dict[str, Any] = {"registry": self.registry, "namespace": "nungil"}
        self._requests = Counter("requests", "Requests answered.", ["path", "status"], **made)
        self._seconds = Histogram("request_seconds", "From a request to its answer.", ["path"], buckets=SECONDS, **made)
        self._dropped = Counter("dropped", "Requests whose work was not done, by why.", ["why"], **made)
        self._texts = Histogram("batch_texts", "Texts computed together.", buckets=COUNTS, **made)
        self._tokens = Histogram("batch_tokens", "Source tokens computed together.", buckets=TOKENS, **made)
        self._computed = Histogram("batch_seconds", "What a batch took.", buckets=SECONDS, **made)
        self._restarts = Counter("worker_restarts", "Workers that died and were replaced.", **made)
        self.waiting_tokens = Gauge("queue_tokens", "Source tokens that wait.", **made)
        self.waiting_requests = Gauge("queue_requests", "Requests that wait.", **made)
        self.ready = Gauge("ready", "1 if the server takes requests.", **made)
        self.rate = 0.0  # recent source tokens per second under load; 0 if unknown
        for why in DROPPED:
            self._dropped.labels(why)

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a finished request."""
        known = path if path in PATHS else OTHER
        self._requests.labels(known, str(status)).inc()
        self._seconds.labels(known).observe(seconds)

    def computed(self, texts: int, tokens: int, seconds: float, crowded: bool) -> None:
        """Count a finished batch. It updates the rate if others were waiting, or if it was faster."""
        self._texts.observe(texts)
        self._tokens.observe(tokens)
        self._computed.observe(seconds)
        latest = tokens / max(seconds, 1e-6)
        if crowded or latest > self.rate > 0:  # a pause of the machine must not lower the rate for ever
            self.rate = latest if self.rate == 0 else self.rate + OF_LATE * (latest - self.rate)

    def dropped(self, why: str) -> None:
        """Count work that was dropped."""
        self._dropped.labels(why).inc()

    def restarted(self) -> None:
        """Count a worker that died."""
        self._restarts.inc()

    def text(self) -> bytes:
        """The metrics in Prometheus's text format."""
        return generate_latest(self.registry)
