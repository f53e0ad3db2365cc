"""Measure the effect of importing and calling a library on TensorFlow's runtime: the part that runs beside the library.

``libraries.py`` runs it with the library's own Python (3.7 or newer), with nothing else installed. It reads a request
as JSON from standard input and answers with one JSON object as the last line of standard output. Every import runs in a
process of its own, and every call in a fork of the process that ran its setup.

With ``gpus``, TensorFlow's binding lists that many simulated GPUs, so that code runs that needs one; the GPU options
are removed from the configuration that the real runtime gets.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback

LIMIT = 180
"""Seconds that a probe may take."""

OWN = ("tensorflow", "tensorflow_core", "tensorflow_estimator", "keras", "tf_keras")

SEEN = {"listings": 0, "sessions": 0, "device_lib": 0, "growth": []}
"""Calls of the binding, counted by kind."""


class Hooks:
    """Patches modules of TensorFlow's edge as soon as they were imported, whatever imports them."""

    def __init__(self, gpus):
        self.gpus = gpus

    def find_spec(self, name, path, target=None):
        head, _, rest = name.partition(".python.")
        patch = PATCHES.get(rest) if head in ("tensorflow", "tensorflow_core") else None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target) if patch else None
        if spec is None or spec.loader is None:
            return None
        real = spec.loader.exec_module

        def exec_module(module):
            real(module)
            patch(module, self.gpus)

        spec.loader.exec_module = exec_module
        return spec


def replace(module, name, make):
    """Put ``make(real)`` in the place of a function that isn't replaced yet."""
    real = getattr(module, name, None)
    if real is None or getattr(real, "recorded", False):
        return
    made = make(real)
    made.recorded = True
    setattr(module, name, made)


def patch_binding(module, gpus):
    def listing(real):
        def list_physical_devices():
            SEEN["listings"] += 1
            shown = [f"/physical_device:GPU:{index}".encode() for index in range(gpus)]
            return [name for name in real() if b":GPU:" not in name] + shown

        return list_physical_devices

    def details(real):
        def get_device_details(index):
            if gpus and index >= len(module.TF_ListPhysicalDevices()) - gpus:
                return {"device_name": "Simulated GPU", "compute_capability": "9.0"}
            return real(index)

        return get_device_details

    def config(real):
        def set_config(options, serialized, *more):
            return real(options, clean(serialized).SerializeToString(), *more)

        return set_config

    def session(real):
        def new_session_options(target=None, config=None):
            if not target:
                SEEN["sessions"] += 1
            if config is not None and config.gpu_options.allow_growth:
                SEEN["growth"].append("session")
            return real(target=target, config=clean(b"" if config is None else config.SerializeToString()))

        return new_session_options

    def devices(real):
        def list_devices(*given):
            SEEN["device_lib"] += 1
            return real(*given)

        return list_devices

    replace(module, "TF_ListPhysicalDevices", listing)
    replace(module, "TF_GetDeviceDetails", details)
    replace(module, "TFE_ContextOptionsSetConfig", config)
    replace(module, "TF_NewSessionOptions", session)
    replace(module, "list_devices", devices)


def clean(serialized):
    """A configuration without GPUs, which runs where there are none."""
    from tensorflow.core.protobuf import config_pb2

    config = config_pb2.ConfigProto()
    config.ParseFromString(bytes(serialized))
    config.ClearField("gpu_options")
    config.allow_soft_placement = True
    return config


def patch_context(module, gpus):
    """Show the GPUs among the logical devices to code outside of TensorFlow, and to no other: it would use them."""

    def listing(real):
        def list_logical_devices(self, device_type=None):
            found = list(real(self, device_type))
            frame = sys._getframe(1)
            while frame is not None and ".python." in (frame.f_globals.get("__name__") or ""):
                frame = frame.f_back
            caller = (frame.f_globals.get("__name__") or "") if frame is not None else ""
            if device_type in (None, "GPU") and caller.split(".")[0] not in OWN:
                found += [module.LogicalDevice(name=f"/device:GPU:{index}", device_type="GPU") for index in range(gpus)]
            return found

        return list_logical_devices

    replace(module.Context, "list_logical_devices", listing)


PATCHES = {
    "pywrap_tfe": patch_binding,
    "pywrap_tensorflow": patch_binding,
    "client.pywrap_tf_session": patch_binding,
    "client._pywrap_device_lib": patch_binding,
    "eager.context": patch_context,
}


def runtime_state():
    """Return the state of this process's TensorFlow, without changing it."""
    found = {"environment": dict(os.environ), **{name: SEEN[name] for name in ("listings", "sessions", "device_lib")}}
    found["growth"] = bool(SEEN["growth"])
    module = next(
        (
            sys.modules[name]
            for name in ("tensorflow.python.eager.context", "tensorflow_core.python.eager.context")
            if name in sys.modules
        ),
        None,
    )
    if module is None:
        return {**found, "tensorflow": False}
    context = module.context_safe() if hasattr(module, "context_safe") else module._context
    found.update(tensorflow=True, started=False, eager=bool(module.executing_eagerly()))
    if context is not None:
        found["started"] = context._context_handle is not None
        found["growth"] = found["growth"] or any((vars(context).get("_memory_growth_map") or {}).values())
        found["limits"] = bool(vars(context).get("_virtual_device_map"))
        shown = vars(context).get("_visible_device_list")
        physical = vars(context).get("_physical_devices")
        if physical and shown is not None:
            counts = [sum(device.device_type == "GPU" for device in devices) for devices in (shown, physical)]
            found["visible"] = counts[0] != counts[1]
    return found


def change(before, after):
    """Return the difference between two states, as flags."""
    flags = {}
    if after.get("started") and not before.get("started"):
        flags["effect"] = "S"
    elif after["sessions"] > before["sessions"] or after["device_lib"] > before["device_lib"]:
        flags["effect"] = "a"
    elif after["listings"] > before["listings"]:
        flags["effect"] = "l"
    else:
        flags["effect"] = "n"
    if before.get("started"):
        flags["effect"] = "?"
    for name in ("growth", "limits", "visible"):
        if after.get(name) and not before.get(name):
            flags[name] = True
    if before.get("eager") and after.get("eager") is False:
        flags["eager-off"] = True
    written = {}
    for name in sorted({*before["environment"], *after["environment"]}):
        value = after["environment"].get(name)
        if value != before["environment"].get(name):
            written[name] = value
    if written:
        flags["environment"] = written
    return flags


def in_child(work):
    """Run ``work`` in a fork of this process; return its result, or an error."""
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            result = work()
        except BaseException as error:
            traceback.print_exc()
            result = {"error": f"{type(error).__name__}: {str(error)[:300]}"}
        try:
            with os.fdopen(writer, "w") as out:
                json.dump(result, out)
            sys.stderr.flush()
        finally:
            os._exit(0)
    os.close(writer)
    received, ends = b"", time.time() + LIMIT
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, ends - time.time()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            break
        part = os.read(reader, 65536)
        if not part:
            break
        received += part
    os.close(reader)
    os.waitpid(child, 0)
    return json.loads(received) if received else {"error": "no answer: it crashed or took too long"}


def find(name):
    """Import a module, or a name of one, as ``from parent import name`` does."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        parent, _, last = name.rpartition(".")
        if not parent or error.name not in (name, parent):
            raise
        return getattr(find(parent), last)


def import_one(name, alone):
    """Return the effect of importing ``name``; ``alone`` is the effect of TensorFlow's own import, if that has not run
    yet."""

    def work():
        before = runtime_state()
        find(name)
        after = runtime_state()
        if alone and after["tensorflow"]:
            before["eager"] = alone["eager"]
            before["environment"].update(alone["written"])
        return {**change(before, after), "tensorflow": after["tensorflow"]}

    return in_child(work)


def tensorflow_alone():
    """Return the state after importing TensorFlow alone."""
    before = dict(os.environ)
    import tensorflow

    written = {name: value for name, value in os.environ.items() if before.get(name) != value}
    return {"written": written, "eager": bool(tensorflow.executing_eagerly())}


def call_all(group, folder):
    """Return the effect of each call of a group, in forks of a process that ran the group's setup."""

    def work():
        space = {"DIR": folder}
        exec(group["setup"], space)
        results = {"": runtime_state()}
        del results[""]["environment"]
        for name, call in group["calls"]:
            results[name] = in_child(lambda: run_call(call, space))  # noqa: B023
        return results

    def run_call(call, space):
        before = runtime_state()
        try:
            result = evaluated(call, space)
        except Exception:
            flags = change(before, runtime_state())
            if flags["effect"] == "S":
                return flags  # it started the runtime, and failed then: for want of a network, say
            raise
        flags = change(before, runtime_state())
        if getattr(getattr(result, "gpu_options", None), "allow_growth", False):
            flags["growth"] = True  # a configuration made for a session
        return flags

    return in_child(work)


def evaluated(code, space):
    """Run ``code``; return its value if it is an expression."""
    try:
        compiled = compile(code, "call", "eval")
    except SyntaxError:
        return exec(code, space)
    return eval(compiled, space)


def version(distribution):
    """Return the version of an installed distribution."""
    try:
        from importlib import metadata
    except ImportError:
        import pkg_resources

        return pkg_resources.get_distribution(distribution).version
    return metadata.version(distribution)


def prepare(code, folder):
    def work():
        exec(code, {"DIR": folder})
        return {}

    return in_child(work)


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    sys.meta_path.insert(0, Hooks(request["gpus"]))
    answer = {"imports": {}, "calls": {}, "version": in_child(lambda: version(request["distribution"]))}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if request.get("prepare"):
            answer["prepared"] = prepare(request["prepare"], folder)
        alone = None
        if request["first"]:
            alone = in_child(tensorflow_alone)
        else:
            import tensorflow

            answer["tensorflow"] = tensorflow.__version__
        for name in request["modules"]:
            answer["imports"][name] = import_one(name, alone)
        for group in request["groups"]:
            found = call_all(group, folder)
            answer["calls"].update({} if "error" in found else found)
            if "error" in found:
                answer["calls"].update({name: found for name, _ in group["calls"]})
            answer["calls"].pop("", None)
    out.write(json.dumps(answer) + "\n")
    out.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
