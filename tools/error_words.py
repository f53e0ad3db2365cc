"""The words of the page of error messages, by language; those about a rule come from the rule and its catalogue."""

from __future__ import annotations

_ENGLISH = {
    "head": """# I have an error

Find your message below: press Ctrl+F and type a part of it that has no name or number of yours. TensorFlow raised each
message when the tests ran a program with that defect; *seen on* lists the releases ([evidence](evidence/README.md) has
every program). The message says where TensorFlow noticed the defect; the cause is usually elsewhere:

```console
tfmemlint check train.py                       # finds the cause, in any module
tfmemlint fix --diff --unsafe-fixes train.py   # shows the rewrite
```

`…` stands for a name or a number of your program. If **nothing is raised** and the GPU is full, read
[My GPU is full](gpu-memory.md).""",
    "ResourceExhaustedError: OOM when allocating": (
        "**The GPU, or its limit, has no room for one more tensor.** [My GPU is full](gpu-memory.md) says who may have "
        "taken the memory; [`tfmemlint fit`](fit.md) says what a training needs, without a GPU. Two of the causes are "
        "defects of the configuration:"
    ),
    "table": "| as raised | rule | seen on |",
    "page": "{rule} has an example, and what to write instead. {fix}",
    "always": "`tfmemlint fix` rewrites it.",
    "sometimes": "`tfmemlint fix` rewrites it where the intent is clear.",
    "never": "There is no rewrite: what is right depends on the program.",
    "seen": "Seen on TensorFlow {releases}.",
    "seen in the tests": "Seen in the tests.",
    "in the tests": "in the tests",
    "range": "{first} to {last}",
    "nothing": (
        "## No message, and the GPU is full\n\nThese programs ran to their end on TensorFlow's own allocator, which "
        "took all of the free memory, or nearly all:\n\n| cause | rule |"
    ),
    "log": "## In the log alone\n\n| message | rule |",
}
_CHINESE = {
    "head": """# 我遇到了错误

在下面查找你的错误信息：按 Ctrl+F，输入其中不含你自己的名字和数字的一段。\
测试运行带有相应缺陷的程序时，TensorFlow 抛出了这里的每一条信息；\
“见于”一列是版本（[证据](../evidence/README.md)列出了每个程序）。\
错误信息指出 TensorFlow 发现问题的地方，原因往往在别处：

```console
tfmemlint check --lang zh train.py             # 找出原因，包括其他模块中的原因
tfmemlint fix --diff --unsafe-fixes train.py   # 显示修改
```

`…` 代表你的程序中的名字或数字。如果**没有抛出异常**而 GPU 满了，请看 [GPU 内存满了](gpu-memory.md)。""",
    "ResourceExhaustedError: OOM when allocating": (
        "**GPU 或它的上限没有空间再放一个张量。**[GPU 内存满了](gpu-memory.md)说明内存可能被谁占用；"
        "[`tfmemlint fit`](fit.md) 可以在没有 GPU 的机器上算出训练需要多少内存。其中有两个原因是配置的缺陷："
    ),
    "table": "| 抛出的信息 | 规则 | 见于 |",
    "page": "示例和正确的写法见 {rule}。{fix}",
    "always": "`tfmemlint fix` 可以改写它。",
    "sometimes": "意图明确时，`tfmemlint fix` 可以改写它。",
    "never": "不能自动改写：怎样才对取决于程序。",
    "seen": "见于 TensorFlow {releases}。",
    "seen in the tests": "见于测试。",
    "in the tests": "测试",
    "range": "{first} 至 {last}",
    "nothing": (
        "## 没有错误信息，而 GPU 满了\n\n这些程序在 TensorFlow 自己的分配器上一直运行到结束，"
        "分配器占用了全部或几乎全部空闲内存：\n\n| 原因 | 规则 |"
    ),
    "log": "## 只出现在日志中\n\n| 信息 | 规则 |",
}
WORDS = {"": _ENGLISH, "zh_CN": _CHINESE}
"""By the folder of the language in ``tfmemlint/locale``, "" for English."""
