"""Sentences in other languages than English: do they say that a name does not exist, or warn against it?

Chinese, Japanese, Korean, German, Spanish, and a few words of French, Portuguese, Italian and Russian. A negation alone
says little: "if the memory is *not* enough, call X" is advice. So it counts only in the clause of the name, and not in
words for a shortage of memory, an aim ("so that not all of it is taken") or a reminder ("do not forget to").
"""

from __future__ import annotations

import re

_STRONG = re.compile(
    # Chinese: does not exist, invented, wrong, removed, has no effect, raises.
    r"不存在|没有(?:这个|这种|这样|该|此|名为|叫)|沒有(?:這個|這種|這樣|該|此|名為|叫)|(?:没有|沒有|无|無)(?:任何"
    r"|什么|什麼)?(?:作用|效果|效)"
    r"|虚构|虛構|杜撰|编造|編造|捏造|幻觉|幻覺|错误(?:的|地|写法|用法|示例|例子)|錯誤(?:的|地|寫法|用法|示例"
    r"|例子)|误写|误以为"
    r"|移除|删除|刪除|废弃|廢棄|弃用|棄用|过时|過時|无效|無效|不起作用|不生效|不会生效|不再(?:支持|存在|有|提供"
    r"|使用)|从未|從未|从来没|從來沒"
    r"|会?(?:抛出|报|拋出|報)\s*[A-Z]\w*Error|(?:写|弄|搞|寫)错|是错(?:误)?的|是錯(?:誤)?的"
    # Japanese.
    r"|存在しな|存在しま(?:せ|し)|架空|でっち上げ|誤(?:り|った)|間違|廃止|削除され|無効|無視され|効果(?:は"
    r"|が)?(?:ない|なく|ありません)"
    r"|(?:動|働)(?:かない|きません)|使えな(?:い|く)|使えません|という(?:関数|API|変数|名前)は(?:ない|ありません)"
    # Korean.
    r"|존재하지\s*않|없는\s*(?:함수|이름|API|옵션|변수|메서드)|(?:함수|API|변수|옵션)(?:는|은|가|이)?\s*없|잘못"
    r"|무시(?:됩|되|된)|폐기|삭제(?:되|됐|된)"
    r"|제거(?:되|됐|된)|효과가?\s*없|(?:작동|동작)하지\s*않|가짜|허구|지어낸|만들어\s*낸"
    # German.
    r"|\b(?:existier(?:t|en) (?:\w+ ){0,3}nicht|g[ai]b(?:t|en)? es (?:[\w.]+ ){0,3}nicht|erfunden\w*|falsch\w*"
    r"|entfernt|veraltet\w*"
    r"|wirkungslos|unwirksam|ignoriert|gibt es kein\w*|(?:keine|ohne) (?:Wirkung|Auswirkung|Bedeutung)|nirgends"
    r"|funktioniert nicht|abzuraten|abgeraten|r(?:ate|aten|ät) (?:[\w.`]+ ){1,4}ab)\b"
    # Spanish.
    r"|\b(?:no (?:existe|existen|existía|existió|funciona|sirve|hace nada)|inexistente\w*|inventad\w*|errón\w+"
    r"|incorrect[oa]s?"
    r"|equivocad\w*|eliminad[oa]s?|obsolet[oa]s?|ignora(?:d[oa]s?)?|sin efecto|no tiene(?:n)? (?:ningún )?efecto)\b"
    # Others, in few words.
    r"|\b(?:n[\u2019']existe|aucune?|jamais|inexistant\w*|faux|não|errado|nunca|non esiste|inesistente"
    r"|sbagliat\w*|nessun\w*"
    r"|нет|не|никогда|неверн\w*)\b",
    re.IGNORECASE,
)
"""Words that deny a name wherever they are in its sentence, or in the one behind it."""

_AGAINST = re.compile(
    r"(?:不要|请勿|請勿|切勿|勿|别|別|不能|不可|不应|不應|不该|不該|不推荐|不建議|不建议|禁止|避免|停止"
    r"|不要再)(?:再|去|直接)?(?:使用|调用|調用|用|写|寫|设置|設置)?"
    r"[\s`「]*$"
    r"|(?:把|将|將|而不是|而非|代替|取代|并非|並非|不是)[^，。；]{0,12}$"
    r"|\b(?:nicht|niemals|nie|kein\w*|statt|anstatt|anstelle(?: von)?|vermeide\w*|vermeiden Sie|verzichten Sie auf)"
    r"(?:\s+(?:die|der|das|den|dem|mehr|Funktion|Variable))*[\s`]*$"
    r"|\b(?:no|nunca|jamás|evit\w+|en (?:lugar|vez) de|deje de)"
    r"(?:\s+(?:uses?|utilices?|llames? a|definas?|usar|el|la|más|función|variable))*[\s`]*$",
    re.IGNORECASE,
)
"""Words directly before a name that warn against it, or replace it."""

_FAILS = re.compile(
    # In Chinese not 否则会报错, which is what happens without the name: a comma stands before it.
    r"(?:会|會|就|也|仍|一直)?(?:出错|出錯|报错|報錯|失败|失敗|崩溃|崩潰)|エラー(?:になり|になる|が出|が発生|が起|を起|を返)|失敗(?:し|する)|落ちます"
    r"|(?:오류|에러)(?:가|를|이)?\s*(?:나|납|발생|뜨|뜹|일으)|실패"
    r"|\b(?:schlägt|schlagen) (?:\w+ )?fehl|\bscheiter(?:t|n)\b|\blöst (?:\w+ ){0,3}aus\b"
    r"|\b(?:falla|fallará|da (?:un )?error|lanza (?:un|una) \w*[Ee]rror)\b",
    re.IGNORECASE,
)
"""Words behind a name, in its clause, that say that using it fails."""

_WITHOUT_IT = re.compile(
    r"ないと|なければ|지\s*않으면|안\s*(?:하|쓰)면|\b(?:ohne|sin)\b|(?:不|没|沒)[^，。]{0,8}$", re.I
)
"""Words that say that something fails without the name."""

_REPLACED = re.compile(
    r"[`\s」]*(?:\([^()]*\)[`\s」]*)?(?:(?:换成|換成|改成|改为|改為|替换|替換|(?:を|は)?(?:使わ|用い|使用し|呼ば"
    r"|設定し)ないで|を?使(?:わない|用しない)"
    r"|ではな[いく]|でなく|の代わりに|を避け|は?禁止|は?べきではな)"
    r"|(?:을|를|은|는|의)?\s{0,4}(?:대신|(?:사용|호출|설정)하지\s{0,4}(?:마|말|않)|쓰지\s{0,4}(?:마|말|않)|피하|이?\s{0,4}아니라"
    r"|이?\s{0,4}아닌))",
    re.IGNORECASE,
)
"""Words directly behind a name that warn against it, or replace it."""

_NEGATED = re.compile(
    r"[不没無无]|[沒]|ない|ません|없|않|아니|\b(?:nicht|keine?[nrms]?|nie|pas|ningun\w*|no)\b", re.IGNORECASE
)
"""Negations, which count in the clause of the name."""

_HARMLESS = re.compile(
    # Not enough; none left.
    r"不足|不够|不夠|足りな[いく]|足らな[いく]|부족하지\s*않\w*|(?:메모리|여유|공간)(?:가|이)?\s*없\w*"
    r"|nicht (?:genug|genügend|reich\w{1,20}|aus\w{0,20})"
    r"|\breich\w{1,20} (?:\w{1,40} )?nicht(?: (?:mehr|aus))?"
    r"|kein\w{0,20} (?:\w{1,40} )?(?:Speicher|Platz|Arbeitsspeicher)\w*(?: mehr)?"
    r"|no hay (?:\w+ )?(?:memoria|espacio)\w*|no (?:alcanza|cabe|basta|es suficiente|queda)\w*"
    # So that not all of it is taken.
    r"|(?:为了|以便|避免|就|从而|而|程序|才)?(?:不会|不再|不|没)(?:要)?(?:再|会|一次性)?(?:占|佔|耗|用光|用完"
    r"|全部|预先)\w*|(?:使わ|占有し|確保し|占め|ならな|しな)ない\s*(?:ように|ため|で済)\w*"
    r"|않게|않도록|지\s*않으려면"
    r"|\bnicht (?:gleich |sofort |mehr )?(?:de[nrsm] |die |das )?(?:ganz|gesamt|all|komplett)\w*"
    r"|\bno (?:ocup|us"
    r"|tom|acapar|consum|llen|agot|gast)\w* (?:tod|much)\w*"
    # Do not forget; must; not only; different; without need.
    r"|不要忘记?了?|不要忘了|别忘了?|別忘了?|勿忘|不妨|不同|不仅|不僅|不但|不只|不过|不過|不断|不斷|无论|無論"
    r"|无需|無需|無須|没有必要|沒有必要|没有?时|不得不|不错"
    r"|忘れない|忘れず|なければ(?:な(?:りません|らない)|いけません)|ないと(?:いけ|な)\w*|(?:呼ば|使わ|入れ|し)ないと(?![思い])|かもしれ(?:ない|ません)"
    r"|だけでな[くい]|잊지\s*(?:마|말)\w*"
    r"|뿐(?:만)?\s*아니라|(?:지|하지)\s*않으면(?:\s*안)?|nicht (?:vergessen|nur|zuletzt)|vergessen sie nicht"
    r"|vergiss nicht|\bno (?:olvid\w+|solo|sólo|dudes?)\b",
    re.IGNORECASE,
)
"""Negations that say nothing about a name."""

_QUESTION = re.compile(
    r"(?:吗|嗎|么|麼|呢|没有|有用吗|是否(?:存在|可用|有)[^。]*|でしょうか|ますか|ですか|なのか|나요|까요|습니까"
    r"|는지요?|ㄹ까)[\s`」』）)]*[。.？?]?\s{0,4}$"
    r"|[？?]\s{0,4}$"
)
_ASKS = re.compile(
    r"^\W*(?:为什么|為什麼|为何|為何|请问|請問|怎么|有没有|有沒有|どうして|なぜ|왜|warum|wieso|gibt es|existiert"
    r"|¿|por qué)",
    re.I,
)
_CLAUSE = re.compile(
    r"[，,；;：:。！!（）()\u2014\u3001]|(?:时|時|的话|的話|とき(?:は|に)?|場合(?:は|に)?|ので|のに|하면|되면"
    r"|경우|때는?)(?=[\s，、`])|\b(?:wenn|damit|falls|hilft|si|para que)\b"
)

_CALL = re.compile(r"^[`\s]*\([^()]*\)")
"""The arguments behind a name."""


def denies(before: str, after: str, following: str) -> bool:
    """Return True if the words around a name, in another language than English, say that it does not exist, warn
    against it, or ask about it.

    Args:
        before, after: the rest of its sentence.
        following: the sentence behind it.
    """
    if _QUESTION.search(after) or _ASKS.match(before):
        return True
    clear = [without_harmless(words) for words in (before, after, following)]
    if any(_STRONG.search(words) for words in clear):
        return True
    clause_before, clause_after = _CLAUSE.split(clear[0])[-1], _CLAUSE.split(_CALL.sub("", clear[1]))[0]
    if _AGAINST.search(clear[0]) or _REPLACED.match(after):
        return True
    if _FAILS.search(clause_after) and not any(_WITHOUT_IT.search(words) for words in (clause_before, after)):
        return True
    return _NEGATED.search(clause_before) is not None or _NEGATED.search(clause_after) is not None


def without_harmless(words: str) -> str:
    """Return words without the negations that say nothing about a name."""
    return _HARMLESS.sub(" ", words)
