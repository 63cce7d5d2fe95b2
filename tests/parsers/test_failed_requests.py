"""Requests that failed or are missing are seen however a tool says it, and innocent words are let alone."""

from __future__ import annotations

import pytest

from optrack.metrics.output import Parsed
from optrack.metrics.read import parse_output
from optrack.model.recipe_parts import MetricRule

SCORE = {"score": MetricRule(regex=r"score = ([\d.]+)", better="higher")}


def read(text: str, parser: str = "auto") -> Parsed:
    return parse_output(parser, f"score = 12.5\n{text}\n".encode(), rules=SCORE)


FAILED = [
    "Failed requests: 34",
    "failed: 34",
    "Failures: 1",
    "Errors: 3",
    "num_failed=2",
    "failed_requests = 34",
    "Failed requests                  34",
    "| Failed requests | 34 |",
    "Failed requests ........ 34 (53.1%)",
    "34 requests failed",
    "34 of 64 requests failed",
    "34/64 failed",
    "done: ok=30 failed=34 total=64",
    "completed 30, failed 34",
    "30 ok, 34 errors",
    "request errors: 2",
    "error count: 2",
    "timed out requests: 5",
    "Timeouts: 5",
    "Error rate: 5.2%",
    "Success rate: 46.9%",
    "success rate: 0.469",
    "Success       [ratio]                           46.88%",
    "Status Codes  [code:count]                      0:34  200:30",
    "HTTP status: 200 x 30, 503 x 34",
    "Status code distribution:\n  [200]\t30 responses\n  [500]\t34 responses",
    "statuses\n200  30\n503  34",
    "HTTP 500: 34",
    "5xx responses: 34 (http)",
    "  Non-2xx or 3xx responses: 34",
    "  Socket errors: connect 0, read 34, write 0, timeout 0",
    "http_req_failed................: 53.12% 34 out of 64",
    "Type Name # reqs # fails | Avg\nGET / 64 34(53.12%) | 12\nAggregated 64 34(53.12%) | 12",
    "Name,Requests,Failures\n/,64,34",
    "Successful requests: 30/64",
    "30 of 64 requests completed",
    "Total requests: 64\nSuccessful requests: 30",
    "Fehlgeschlagene Anfragen: 34",
    "Fehlgeschlagen: 34",
    "Requêtes échouées : 34",
    "Solicitudes fallidas: 34",
    "Requisições com falha: 34",
    "Richieste fallite: 34",
    "Mislukte verzoeken: 34",
    "Неудачные запросы: 34",
    "失败请求数: 34",
    "失敗したリクエスト: 34",
    "실패한 요청: 34",
    '{"completed": 30, "failed": 34}',
    '{"errors": ["", "timeout", ""]}',
    '{"status_codes": {"200": 30, "503": 34}}',
    '{"requests": [{"status": 200, "ms": 5}, {"status": 500, "ms": 1}]}',
    '{"results": {"failedRequests": 2}}',
]


@pytest.mark.parametrize("text", FAILED)
@pytest.mark.parametrize("parser", ["auto", "rules"])
def test_requests_that_failed_make_a_pass_invalid(text: str, parser: str) -> None:
    parsed = read(text, parser)
    assert parsed.invalid
    assert any(char.isdigit() for char in parsed.invalid) or "failed" in parsed.invalid
    assert parsed.value("score") == 12.5


INNOCENT = [
    "Failed requests: 0",
    "failed: 0",
    "0 errors",
    "0 of 64 requests failed",
    "no errors",
    "errors: none",
    "Error rate: 0.00%",
    "Success rate: 100%",
    "success rate: 1.0",
    "Success       [ratio]                           100.00%",
    "Status Codes  [code:count]                      200:64",
    "[200]\t64 responses",
    "  Socket errors: connect 0, read 0, write 0, timeout 0",
    "http_req_failed................: 0.00% 0 out of 64",
    "64 of 64 requests completed",
    "Total requests: 64\nSuccessful requests: 64",
    "word error rate: 5.2%",
    "mean absolute error: 0.03",
    "standard error: 3",
    "max errors: 10",
    "timeout: 30",
    "request timeout: 30 s",
    "retries: 3 after 3 failed requests",
    "draft tokens rejected: 3400",
    "rejected: 120",
    "failover time: 12 ms",
    "error budget: 12",
    "WARNING: failed to import flash_attn 2",
    "batch 512: 34 ms",
    "p50 latency: 500 ms",
    '127.0.0.1 - "GET /v1/x HTTP/1.1" 404 12',
    "Fehlgeschlagene Anfragen: 0",
    "失败请求数: 0",
    '{"completed": 64, "failed": 0, "errors": ["", ""]}',
    '{"status_codes": {"200": 64}}',
    '{"error": null, "success": true}',
    "latency: 12 µs",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_words_leave_a_pass_valid(text: str) -> None:
    parsed = read(text, "rules")
    assert parsed.invalid is None
    assert parsed.unread is None


def test_counts_in_a_language_that_is_not_known_are_told_as_unread() -> None:
    assert read("ยังไม่สำเร็จ: 34", "rules").unread == "ยังไม่สำเร็จ: 34"
    assert read("Failed requests: 0\nคำขอ: 64", "rules").unread is None
