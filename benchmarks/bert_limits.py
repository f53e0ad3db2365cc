#!/usr/bin/env python3
"""The largest batch of BERT-Base at each length, with the layers and the optimizer that BERT is known by.

One function of any shape is traced once, and called with batch after batch, to find the largest one for which
TensorFlow's allocator has room: `tfmemlint fit benchmarks/bert_limits.py --gpu-memory 12GiB --steps 0 --jit off
--verbose --timeout 1200 --host-memory 14GiB`. TensorFlow 1.11 took 95 % of what was free on the 12 GB of a Titan X,
which the limit below stands for.
"""

import sys

import tensorflow as tf

LIMIT_MIB = int(sys.argv[1]) if len(sys.argv) > 1 else 11430
LAYERS, WIDTH, HEADS, INNER, WORDS = 12, 768, 12, 3072, 30522
STATED = {64: 64, 128: 32, 256: 16, 320: 14, 384: 12, 512: 6}
gpu = tf.config.list_physical_devices("GPU")[0]
tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=LIMIT_MIB)])

weights = []


def weight(*shape):
    weights.append(tf.Variable(tf.zeros(shape)))
    return weights[-1]


def dense_weights(rows, columns):
    return weight(rows, columns), weight(columns)


embedding, kinds, positions = weight(WORDS, WIDTH), weight(2, WIDTH), weight(512, WIDTH)
norms = [(weight(WIDTH), weight(WIDTH)) for _ in range(2 * LAYERS + 1)]
layers = [
    [dense_weights(WIDTH, WIDTH) for _ in range(4)] + [dense_weights(WIDTH, INNER), dense_weights(INNER, WIDTH)]
    for _ in range(LAYERS)
]
pooler, head = dense_weights(WIDTH, WIDTH), dense_weights(WIDTH, 2)
first = [tf.Variable(tf.zeros_like(value)) for value in weights]
second = [tf.Variable(tf.zeros_like(value)) for value in weights]


def dense(x, pair):
    return tf.nn.bias_add(tf.matmul(x, pair[0]), pair[1])


def norm(x, pair):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, pair[1], pair[0], 1e-12)


def dropout(x):
    kept = tf.floor(0.9 + tf.random.uniform(tf.shape(x)))
    return tf.divide(x, 0.9) * kept


def gelu(x):
    return x * (0.5 * (1.0 + tf.math.erf(x / tf.sqrt(2.0))))


def split(x, batch, length):
    return tf.transpose(tf.reshape(x, [batch, length, HEADS, WIDTH // HEADS]), [0, 2, 1, 3])


def logits_of(words):
    batch, length = tf.shape(words)[0], tf.shape(words)[1]
    x = tf.reshape(tf.gather(embedding, tf.reshape(words, [-1])), [batch, length, WIDTH])
    x += tf.reshape(tf.matmul(tf.one_hot(tf.zeros([batch * length], tf.int32), 2), kinds), [batch, length, WIDTH])
    x += tf.slice(positions, [0, 0], [length, WIDTH])
    x = tf.reshape(dropout(norm(x, norms[0])), [-1, WIDTH])
    mask = (1.0 - tf.ones([batch, 1, length, length])) * -10000.0
    for number, (query, key, value, out, wide, narrow) in enumerate(layers):
        q, k, v = (split(dense(x, pair), batch, length) for pair in (query, key, value))
        scores = tf.multiply(tf.matmul(q, k, transpose_b=True), 0.125) + mask
        seen = tf.matmul(dropout(tf.nn.softmax(scores)), v)
        seen = tf.reshape(tf.transpose(seen, [0, 2, 1, 3]), [-1, WIDTH])
        x = norm(dropout(dense(seen, out)) + x, norms[2 * number + 1])
        x = norm(dropout(dense(gelu(dense(x, wide)), narrow)) + x, norms[2 * number + 2])
    x = tf.tanh(dense(tf.reshape(x, [batch, length, WIDTH])[:, 0], pooler))
    return dense(dropout(x), head)


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
def step(words):
    with tf.GradientTape() as tape:
        chances = tf.nn.log_softmax(logits_of(words))
        loss = -tf.reduce_mean(tf.reduce_sum(chances * tf.one_hot(tf.zeros_like(words[:, 0]), 2), -1))
    found, _ = tf.clip_by_global_norm(tape.gradient(loss, weights), 1.0)
    for number, value in enumerate(weights):
        mean, square, gradient = first[number], second[number], tf.convert_to_tensor(found[number])
        next_mean = 0.9 * mean + 0.1 * gradient
        next_square = 0.999 * square + 0.001 * tf.square(gradient)
        change = next_mean / (tf.sqrt(next_square) + 1e-6) + 0.01 * value
        value.assign(value - 2e-5 * change)
        mean.assign(next_mean)
        square.assign(next_square)


def fits(length, batch):
    tf.config.experimental.reset_memory_stats("GPU:0")
    try:
        step(tf.zeros([batch, length], tf.int32))
    except tf.errors.ResourceExhaustedError:
        return None
    return tf.config.experimental.get_memory_info("GPU:0")["peak"] / 2**20


for length, stated in STATED.items():
    low, high, peaks = 0, 2 * stated, {}
    while high - low > 1:
        batch = stated if not peaks else (low + high) // 2
        peaks[batch] = fits(length, batch)
        low, high = (batch, high) if peaks[batch] else (low, batch)
    shown = {batch: round(peak) for batch, peak in sorted(peaks.items()) if peak}
    print(f"length {length}: stated {stated}, largest {low}; {shown}", flush=True)
