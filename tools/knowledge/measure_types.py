"""Print the members of TensorFlow's objects that code about GPU memory touches, as one release has them.

Run it with the interpreter of each release that is measured; keep what it prints in ``measured/types-RELEASE.txt``:

    /opt/tf/2.9/bin/python tools/knowledge/measure_types.py > tools/knowledge/measured/types-2.9.txt

Each line is a type and its members, private names and Python's own (``__eq__``) left out; a line
``message TYPE`` has the fields of a message: ``name`` for a number or a text, ``name=TYPE`` for a message, ``name*``
for a repeated field or a map. It runs on every Python from 3.7 on, and needs no GPU.
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ.pop("TF_CONFIG", None)

import tensorflow as tf

_CPU = "/cpu:0"
_DEVICE = "tf.config.LogicalDeviceConfiguration"


def main():
    """Print the release, and a line for each type."""
    print("# " + ".".join(tf.__version__.split(".")[:2]))
    for name, thing in sorted(_objects().items()):
        print(name, *sorted(member for member in dir(thing) if not member.startswith("_")))
    seen = {}
    for message in _messages():
        _add_message(message, seen)
    for name, fields in sorted(seen.items()):
        print("message " + name, *sorted(fields))


def _objects():
    """Return an object of each type by the type's name, or its class where all members are the class's own."""
    from tensorflow.python.eager import context

    logical = getattr(context, "LogicalDeviceConfiguration", None) or context.VirtualDeviceConfiguration
    found = {"PhysicalDevice": context.PhysicalDevice, "LogicalDevice": context.LogicalDevice, _DEVICE: logical}
    found = {("tf.config." + name if "." not in name else name): thing for name, thing in found.items()}
    resolver = tf.distribute.cluster_resolver
    makers = {
        "tf.distribute.get_strategy": tf.distribute.get_strategy,
        "tf.distribute.OneDeviceStrategy": lambda: tf.distribute.OneDeviceStrategy(_CPU),
        "tf.distribute.MirroredStrategy": lambda: tf.distribute.MirroredStrategy([_CPU]),
        "tf.distribute.MultiWorkerMirroredStrategy": lambda: tf.distribute.MultiWorkerMirroredStrategy(),
        "tf.distribute.experimental.MultiWorkerMirroredStrategy": (
            lambda: tf.distribute.experimental.MultiWorkerMirroredStrategy()
        ),
        "tf.distribute.experimental.CentralStorageStrategy": (
            lambda: tf.distribute.experimental.CentralStorageStrategy([_CPU], _CPU)
        ),
        "tf.distribute.cluster_resolver.TFConfigClusterResolver": resolver.TFConfigClusterResolver,
        "tf.distribute.cluster_resolver.SimpleClusterResolver": (
            lambda: resolver.SimpleClusterResolver(tf.train.ClusterSpec({}))
        ),
        "tf.train.ClusterSpec": lambda: tf.train.ClusterSpec({}),
        "tf.compat.v1.Session": lambda: tf.compat.v1.Session(graph=tf.Graph()),
    }
    for name, make in makers.items():
        try:
            found[name] = made = make()
        except Exception as error:  # a release may lack any of them
            print(name, type(error).__name__, error, file=sys.stderr)
            continue
        extended = getattr(made, "extended", None)
        if extended is not None:
            found[name + "().extended"] = extended
    return found


def _messages():
    from tensorflow.core.framework import device_attributes_pb2

    v1 = tf.compat.v1
    return [v1.ConfigProto, v1.GPUOptions, v1.RunOptions, device_attributes_pb2.DeviceAttributes]


def _add_message(message, seen):
    """Add a message, and all messages that its fields hold."""
    descriptor = message.DESCRIPTOR
    name = descriptor.full_name.rpartition("tensorflow.")[2]
    if name in seen:
        return
    fields = []
    for field in descriptor.fields:
        mark = "*" if _is_repeated(field) else ""
        inner = field.message_type
        if inner is not None and not inner.GetOptions().map_entry:
            fields.append(f"{field.name}{mark}={inner.full_name.rpartition('tensorflow.')[2]}")
        else:
            fields.append(field.name + mark)
    seen[name] = fields
    for field in descriptor.fields:
        inner = field.message_type
        if inner is not None and not inner.GetOptions().map_entry and hasattr(inner, "_concrete_class"):
            _add_message(inner._concrete_class, seen)


def _is_repeated(field):
    try:
        return field.is_repeated
    except AttributeError:
        return field.label == field.LABEL_REPEATED


if __name__ == "__main__":
    main()
