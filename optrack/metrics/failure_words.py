"""The words, in many languages, by which outputs tell of requests that failed, and what may stand beside them."""

from __future__ import annotations

import re

_STEMS = (
    r"fail(?:ed|ures?|s|ing)?|errors|errored|timeouts|timedout|unsuccessful|aborted|refused|rejected|dropped|lost"
    r"|fehlgeschlagen\w*|fehler\w*|gescheitert\w*|échou\w*|echou\w*|échecs?|echecs?|erreurs?|fallid[oa]s?|fallaron"
    r"|errores|erros|falh\w+|fallit[aeio]|falliment\w*|errori|mislukt\w*|fouten|misslyck\w*|mislyk\w*|feilet"
    r"|epäonnist\w*|virhe\w*|nieudan\w*|błęd\w*|selhal\w*|chyb\w*|sikertelen\w*|hib[aá]s?|eșuat\w*|başarısız\w*|hatal[ıi]"
    r"|неудач\w*|неуспешн\w*|ошиб\w*|помил\w*|невдал\w*|αποτυχ\w*|σφάλμα\w*|gagal|thất|lỗi|ล้มเหลว|विफल"
)
_CJK = r"失败|失敗|错误|錯誤|エラー|실패|오류|فشل|فاشلة|נכשל\w*"
_SINGULAR = r"error|timed|dropped|missing|lost|rejected|refused|aborted|reset"
"""What tells of a failure only together with a word for a request."""
_REQUESTS = (
    r"requests?|reqs?|transactions?|queries|query|calls?|responses?|connections?|prompts?|http|sockets?|anfragen?|anforderungen"
    r"|requêtes?|requetes?|solicitud(?:es)?|peticion(?:es)?|requisiç\w+|pedidos|richiest[ae]|verzoek(?:en)?|запрос\w*"
    r"|żąda\w*|zapyta\w*|förfrågning\w*|pyyn\w+|istek\w*|permintaan|yêu|cầu|請求|请求|リクエスト|요청|طلبات"
)
_FILLER = (
    r"total|num|number|count|counts|of|n|no|sum|all|the|were|was|are|have|has|http|read|write|connect|server|client|"
    r"status|non|de|des|con|com|en|der|die|das|anzahl|gesamt|nombre|número|numero|total[ei]s?|数|总|總|數|bại|out|in"
)
FAILURE = re.compile(rf"^(?:{_STEMS})$")
FAILURE_CJK = re.compile(_CJK)
FAILURE_OF_ONE = re.compile(rf"^(?:{_SINGULAR})$")
REQUEST = re.compile(rf"^(?:{_REQUESTS})$")
FILLER = re.compile(rf"^(?:{_FILLER})$")
FOREIGN = re.compile(r"[^\x00-\x7fµμ]")
MARKS = re.compile(
    rf"(?i)fail|error|timeout|timed.out|unsuccess|abort|refus|reject|drop|lost|missing|status|code|http|[45]xx|success"
    rf"|complet|succeed|non-2|✗|fehl|erreur|échou|echou|échec|fall|falh|mislu|{_CJK}|[^\x00-\x7f]|gagal|chyb|hib[aá]"
)
DONE = re.compile(
    r"^(?:(?:requests?|prompts?|queries)\s)?(?:were\s|are\s)?(?:completed|succeeded|successful|ok)\b", re.I
)
DONE_LABEL = re.compile(r"^(?:(?:successful|completed|succeeded|ok)(?: requests| prompts| queries)?)$", re.I)
TOTAL_LABEL = re.compile(
    r"^(?:total|all|sent|issued|attempted)(?: requests| prompts| queries| sent)$|^requests sent$", re.I
)
RATE = re.compile(r"\b(?:rate|ratio|percentage|percent|pct|share|rat[ae]|quote)\b", re.I)
SUCCESS = re.compile(
    r"^(?:request |http )?success(?:ful)?(?: requests?)?[ _]?(?:rate|ratio|percentage|\[ratio\])?$", re.I
)
ERROR_RATE = re.compile(
    r"^(?:request |http )?(?:fail(?:ed|ure)?|errors?)(?: requests?)?[ _](?:rate|ratio|percentage)$", re.I
)
RETRIED = re.compile(r"\bretr(?:y|ies|ied|ying)\b", re.I)
