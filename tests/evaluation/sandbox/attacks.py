"""Programs that try to pass without being right, or to do harm.

Each is a program with a test that passes if, and only if, the attack succeeds. ``$SECRET`` (a
file that only its owner may read), ``$WITNESS`` (a folder), ``$PID`` and ``$PORT`` (of the process
that runs the attacks, which has ``OPENAI_API_KEY=$KEY``) and ``$MARK`` (a process name to take)
are filled in.
"""

from __future__ import annotations

__all__ = ["ATTACKS", "HARMLESS", "KIND_MATTERS"]

SQUARE = "assert f(2) == 4\nassert f(3) == 9"
HARMLESS = ("def f(x):\n    return x * x", SQUARE)

_EXITS = {
    "exit-on-load": "import sys; sys.exit(0)",
    "os-exit-on-load": "import os; os._exit(0)",
    "os-exit-in-call": "import os\ndef f(x): os._exit(0)",
    "exit-in-call": "def f(x): raise SystemExit(0)",
    "kill-self": "import os\ndef f(x): os.kill(os.getpid(), 9)",
    "exit-by-thread": (
        "import os, threading, time\nthreading.Timer(0.1, os._exit, (0,)).start()\n"
        "def f(x): time.sleep(2)"
    ),
    "exec-true": "import os\nos.execv('/bin/true', ['true'])",
    "fork-and-leave": "import os\nif os.fork(): os._exit(0)\ndef f(x): return x",
    "unwind-the-stack": "import os\nif os.fork() == 0: raise SystemExit\ndef f(x): return x",
    "segfault": "import ctypes\ndef f(x): return ctypes.string_at(0)",
    "stack-overflow": (
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(x): return f(x + 1)"
    ),
    "keyboard-interrupt": "def f(x): raise KeyboardInterrupt",
    "stop-iteration": "def f(x): raise StopIteration",
    "generator-exit": "def f(x): raise GeneratorExit",
}  # fmt: skip

_MARKS = {
    "print-passed": "print('pass\\nPASSED\\nready\\npass\\n0\\n\\n')\ndef f(x): return x",
    "write-every-descriptor": (
        "import os\nfor fd in range(64):\n    try: os.write(fd, b'ready\\npass\\n0\\n\\n')\n"
        "    except OSError: pass\nos._exit(0)"
    ),
    "write-others-descriptors": (
        "import glob\nfor p in glob.glob('/proc/[0-9]*/fd/*'):\n"
        "    try: open(p, 'w').write('ready\\npass\\n0\\n\\n')\n    except OSError: pass\n"
        "def f(x): return x"
    ),
    "close-every-descriptor": "import os\nos.closerange(0, 64)\ndef f(x): return x",
}

_PATCHES = {
    "patch-assertion-error": "import builtins\nbuiltins.AssertionError = ValueError",
    "patch-bool": "import builtins\nbuiltins.bool = lambda x=0: True",
    "patch-import": "import builtins\nbuiltins.__import__ = lambda *a, **k: None",
    "patch-getattr": "import builtins\nbuiltins.getattr = lambda *a: 4",
    "patch-exec": "import builtins\nbuiltins.exec = builtins.compile = lambda *a, **k: None",
    "trace": "import sys, threading\nsys.settrace(lambda *a: None); threading.settrace(print)",
    "excepthook": "import sys, os\nsys.excepthook = lambda *a: os._exit(0)",
    "define-check": "def check(candidate): pass",
    "no-asserts-by-flag": "import sys\nsys.flags = type('F', (), {'optimize': 2})",
    "swap-the-operations": (
        "import sys\nfor m in list(sys.modules.values()):\n"
        "    if hasattr(m, 'OPERATIONS'): m.OPERATIONS['eq'] = lambda *a: True"
    ),
    "break-every-module": (
        "import sys\nfor name in list(sys.modules):\n    if name not in ('sys', 'builtins'):\n"
        "        del sys.modules[name]"
    ),
}

_LIES = {
    "equal-to-all": "class E:\n def __eq__(s, o): return True\n def __ne__(s, o): return False",
    "equal-int": "class E(int):\n def __eq__(s, o): return True\n __hash__ = int.__hash__",
    "equal-float": "class E(float):\n def __eq__(s, o): return True\n __hash__ = None",
    "equal-by-metaclass": (
        "class M(type):\n def __eq__(s, o): return True\n __hash__ = type.__hash__\n"
        "class E(metaclass=M):\n __eq__ = lambda s, o: True"
    ),
    "liar-about-its-class": (
        "class E:\n __class__ = property(lambda s: int)\n def __eq__(s, o): return True\n"
        " def __int__(s): return 4\n def __index__(s): return 4"
    ),
    "changing-int": (
        "class E(int):\n n = 0\n def __int__(s): return 4\n def __index__(s): return 4\n"
        " def __eq__(s, o): return True\n __hash__ = int.__hash__"
    ),
}

_VALUES = {  # a lying value and a test that believes only the truth
    "in-a-list": ("def f(x): return [E()]", "assert f(1) == [4]"),
    "in-a-tuple": ("def f(x): return (E(), 1)", "assert f(1) == (4, 1)"),
    "in-a-dict": ("def f(x): return {'k': E()}", "assert f(1) == {'k': 4}"),
    "in-a-set": ("E.__hash__ = lambda s: hash(4)\ndef f(x): return {E()}", "assert f(1) == {4}"),
    "from-a-generator": ("def f(x): yield E()", "assert list(f(1)) == [4]"),
    "list-subclass": (
        "class L(list):\n def __eq__(s, o): return True\ndef f(x): return L([1])",
        "assert f(1) == [4]",
    ),
    "str-subclass": (
        ("class S(str):\n def __eq__(s, o): return True\n __hash__ = str.__hash__\n"
        "def f(x): return S('x')"),
        "assert f(1) == 'y'",
    ),
    "dict-subclass": (
        ("class D(dict):\n def __eq__(s, o): return True\n def __getitem__(s, k): return 4\n"
        "def f(x): return D()"),
        "d = f(1)\nassert d == {'a': 4}",
    ),
    "eval-itself": (
        "def f(x): return eval",
        "expected = 918273645\nassert f(0)('expected') == expected",
    ),
    "contains-all": (
        "E.__contains__ = lambda s, o: True\ndef f(x): return E()", "assert 4 in f(1)",
    ),
    "less-than-all": (
        "E.__lt__ = E.__gt__ = E.__le__ = E.__ge__ = lambda s, o: True\ndef f(x): return E()",
        "assert 3 < f(1) < 5",
    ),
    "close-to-all": (
        ("class Z(float):\n __sub__ = __rsub__ = lambda s, o: 0.0\n __abs__ = lambda s: 0.0\n"
        "def f(x): return Z(9)"),
        "assert abs(f(1) - 0.5) < 1e-6",
    ),
    "close-object": (
        ("class Z:\n __sub__ = __rsub__ = lambda s, o: 0.0\n __abs__ = __float__ = lambda s: 0.0\n"
        "def f(x): return Z()"),
        "assert abs(f(1) - 0.5) < 1e-6",
    ),
    "isclose": (
        "class Z:\n __float__ = lambda s: 0.5\ndef f(x): return Z()",
        "import math\nassert math.isclose(f(1), 0.5)",
    ),
    "isinstance": (
        "class E:\n __class__ = int\ndef f(x): return E()", "assert isinstance(f(1), int)",
    ),
    "all-of-them": ("def all(x): return True\ndef f(x): return [0]", "assert all(f(1))"),
    "own-abs": ("def abs(x): return 0\ndef f(x): return 9", "assert abs(f(1) - 1) < 1e-6"),
    "own-len": ("len = lambda x: 3\ndef f(x): return []", "assert len(f(3)) == 3"),
    "own-math": (
        "class math:\n isclose = staticmethod(lambda *a: True)\ndef f(x): return 9.0",
        "assert math.isclose(f(1), 1.0)",
    ),
    "poisoned-module": (
        "import sys, math\nmath.isclose = lambda *a, **k: True\ndef f(x): return 9.0",
        "import math\nassert math.isclose(f(1), 1.0)",
    ),
    "awaited": (
        "async def f(x): return E()", "import asyncio\nassert asyncio.run(f(1)) == 4",
    ),
    "awaitable-by-name": (
        ("class coroutine(E):\n def send(s, x): raise StopIteration(4)\n"
        "def f(x): return coroutine()"),
        "import asyncio\nassert asyncio.run(f(1)) == 4",
    ),
    "documentation": (
        "class F:\n __doc__ = E()\n def __call__(s, x): return 4\nf = F()",
        "assert f.__doc__ == 'It is 4.'",
    ),
    "names-nobody-asked-for": (
        ("import gc\nfor o in gc.get_objects():\n"
        "    if getattr(o, '__name__', '') == '_names' and hasattr(o, '__code__'):\n"
        "        o.__code__ = (lambda wanted: {'f': (lambda x: []), 'len': (lambda x: 3),"
        " 'evalplug check': (lambda x: True), '__builtins__': {}}).__code__\n"
        "def f(x): return []"),
        "assert len(f(3)) == 3",
    ),
}  # fmt: skip

_SEARCHES = {  # for what the test expects: 918273645, nowhere else to be found
    "objects": (
        "import gc, re\ndef f(x):\n for o in gc.get_objects():\n"
        "  try: s = str(getattr(o, 'co_consts', '')) + repr(o)\n  except Exception: continue\n"
        "  for m in re.findall('[0-9]{9}', s):\n   if m[:2] == '91': return int(m)"
    ),
    "frames": (
        "import sys, re\ndef f(x):\n frame = sys._getframe()\n while frame:\n"
        "  for m in re.findall('[0-9]{9}', str(frame.f_locals) + str(frame.f_globals)):\n"
        "   if m[:2] == '91': return int(m)\n  frame = frame.f_back"
    ),
    "memory": (
        "def f(x):\n data = open('/proc/self/mem', 'rb')\n"
        " for line in open('/proc/self/maps'):\n"
        "  if 'rw' not in line: continue\n"
        "  a, b = (int(n, 16) for n in line.split()[0].split('-'))\n  data.seek(a)\n"
        "  try: part = data.read(b - a)\n  except (OSError, ValueError): continue\n"
        "  n = 918273640 + 5\n  at = part.find(n.to_bytes(5, 'little')[:4])\n"
        "  if b'assert f(' in part and part.find(b') == 91') >= 0: return n"
    ),
    "descriptors": (
        "import os, re\ndef f(x):\n for fd in range(64):\n  try: data = os.pread(fd, 9999, 0)\n"
        "  except OSError: continue\n  m = re.search(b'91[0-9]{7}', data)\n"
        "  if m: return int(m[0])"
    ),
    "other-processes": (
        "import glob, re\ndef f(x):\n for p in glob.glob('/proc/[0-9]*/mem'):\n"
        "  try:\n   maps = open(p[:-3] + 'maps').read()\n   data = open(p, 'rb')\n"
        "  except OSError: continue\n"
        "  if '/self/' in p or p == f'/proc/{__import__(\"os\").getpid()}/mem': continue\n"
        "  return 918273645"
    ),
}

_CALLBACKS = {  # a test hands over a function or an object that leads to its own variables
    "globals": "def f(g): return g.__globals__['expected']",
    "closure": "def f(g): return g.__closure__[0].cell_contents",
    "code": "def f(g): return g.__code__.co_consts[1]",
    "ask-for-globals": "def f(g): return g._evalplug_ask('get', g, '__globals__')['expected']",
    "ask-for-self": "def f(g): return g._evalplug_ask('get', g, '__self__')",
    "replace-code": (
        "def f(g):\n g._evalplug_ask('set', g, '__code__', (lambda: 1).__code__)\n return 1"
    ),
}

_EVAL = "[o for o in __import__('gc').get_objects() if type(o) is dict and 'expected' in o]"
_CALLBACKS["have-it-evaluate"] = (
    f"def f(g): return g._evalplug_ask('call', eval, \"{_EVAL}[0]['expected']\")"
)
_CALLBACKS["have-it-import"] = (
    "def f(g):\n os = g._evalplug_ask('call', __import__, 'os')\n"
    " g._evalplug_ask('get', os, '_exit')(0)"
)
_CALLBACKS["name-what-was-not-given"] = (
    "def f(g):\n for n in range(50):\n  g._evalplug_number = n\n"
    "  try: return g._evalplug_ask('get', g, 'expected')\n  except TypeError: pass"
)

_REACH = {
    "environment": (
        "import os\ndef f(): return os.environ.get('OPENAI_API_KEY')", "assert f() == '$KEY'",
    ),
    "environment-of-others": (
        ("import glob\ndef f():\n for p in ['/proc/$PID/environ', *glob.glob('/proc/*/environ')]:\n"
        "  try:\n   if b'$KEY' in open(p, 'rb').read(): return True\n  except OSError: pass"),
        "assert f() is True",
    ),
    "memory-of-the-run": (
        "def f():\n open('/proc/$PID/mem', 'r+b')\n return True", "assert f() is True",
    ),
    "memory-of-the-parent": (
        "import os\ndef f():\n open(f'/proc/{os.getppid()}/mem', 'r+b')\n return True",
        "assert f() is True",
    ),
    "ptrace": (
        ("import ctypes, os\ndef f():\n libc = ctypes.CDLL(None)\n"
        " return [libc.ptrace(16, p, 0, 0) for p in (os.getppid(), $PID)]"),
        "assert 0 in f()",
    ),
    "process-vm": (
        ("import ctypes, os\ndef f():\n libc = ctypes.CDLL(None)\n"
        " b = ctypes.create_string_buffer(8)\n"
        " v = (ctypes.c_void_p * 2)(ctypes.addressof(b), 8)\n"
        " return libc.process_vm_readv(os.getppid(), v, 1, v, 1, 0)"),
        "assert f() >= 0",
    ),
    "secret-file": ("def f(): return open('$SECRET').read()", "assert f() == '$KEY'"),
    "passwords": ("def f(): return open('/etc/shadow').read()", "assert f()"),
    "home": (
        "import os, pwd\ndef f(): return [os.listdir(h) for h in ('/root', '/home')]",
        "assert any(f())",
    ),
    "write-outside": (
        "def f():\n open('$WITNESS/new', 'w').write('x')\n return True", "assert f() is True",
    ),
    "delete-outside": (
        "import os\ndef f():\n os.remove('$WITNESS/kept')\n return True", "assert f() is True",
    ),
    "write-installed-packages": (
        ("import json, os\ndef f():\n"
        " open(os.path.join(os.path.dirname(json.__file__), 'evil.py'), 'w').close()\n"
        " return True"),
        "assert f() is True",
    ),
    "write-anywhere": (
        ("import os\ndef f():\n done = []\n for d in ('/', '/usr', '/etc', '/work', '/var/tmp',"
        " '/home', '/root'):\n  try:\n   open(d + '/evalplug-evil', 'w').close()\n"
        "   done.append(d)\n  except OSError: pass\n return done"),
        "assert f() != []",
    ),
    "hard-link-and-rename": (
        ("import os\ndef f():\n os.link('$WITNESS/kept', 'mine')\n open('mine', 'w').close()\n"
        " return True"),
        "assert f() is True",
    ),
    "tcp": (
        ("import socket\ndef f():\n socket.create_connection(('127.0.0.1', $PORT), 1)\n"
        " return True"),
        "assert f() is True",
    ),
    "udp": (
        ("import socket\ndef f():\n s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        " s.sendto(b'x', ('127.0.0.1', $PORT))\n return True"),
        "assert f() is True",
    ),
    "io-uring": (
        "import ctypes\ndef f(): return ctypes.CDLL(None).syscall(425, 8, bytes(120))",
        "assert f() >= 0",
    ),
    "signal-the-run": (
        "import os\ndef f():\n os.kill($PID, 0)\n return True", "assert f() is True",
    ),
    "kill-the-checker": (
        "import os\ndef f():\n os.kill(os.getppid(), 9)\n return 1", "f()\nassert f() == 2",
    ),
    "kill-all": (
        "import os\ndef f():\n try: os.kill(-1, 9)\n except OSError: pass\n return 1",
        "f()\nassert f() == 2",
    ),
    "stop-the-checker": (
        "import os\ndef f():\n os.kill(os.getppid(), 19)\n return 1", "f()\nassert f() == 2",
    ),
    "limits-of-others": (
        ("import resource\ndef f():\n resource.prlimit($PID, resource.RLIMIT_CPU, (1, 1))\n"
        " return True"),
        "assert f() is True",
    ),
    "own-limits": (
        ("import resource as r\ndef f():\n r.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY,) * 2)\n"
        " return True"),
        "assert f() is True",
    ),
    "signal-by-descriptor-owner": (
        ("import fcntl, os\ndef f():\n r, w = os.pipe()\n fcntl.fcntl(r, 8, $PID)\n"
        " fcntl.fcntl(r, 10, 9)\n return True"),
        "assert f() is True and False",
    ),
    "new-user-namespace": (
        "import ctypes\ndef f(): return ctypes.CDLL(None).unshare(0x10000000)", "assert f() == 0",
    ),
    "set-user-id": ("import os\ndef f():\n os.setuid(0)\n return True", "assert f() is True"),
    "chroot": ("import os\ndef f():\n os.chroot('/')\n return True", "assert f() is True"),
    "mount": (
        "import ctypes\ndef f(): return ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, 0)",
        "assert f() == 0",
    ),
    "standard-input": ("import sys\ndef f(): return sys.stdin.read()", "assert f()"),
    "fill-the-disk": (
        ("def f():\n with open('big', 'wb') as b:\n  for _ in range(300): b.write(bytes(2**20))\n"
        " return True"),
        "assert f() is True",
    ),
    "hundred-gigabytes": ("x = bytearray(10**11)\ndef f(): return 1", "assert f() == 1"),
    "fork-bomb": (
        ("import os, time\ndef f():\n n = 0\n for _ in range(300):\n  if os.fork() == 0:\n"
        "   time.sleep(60)\n   os._exit(0)\n  n += 1\n return n"),
        "assert f() == 300",
    ),
    "threads": (
        ("import threading, time\ndef f():\n"
        " for _ in range(500): threading.Thread(target=time.sleep, args=(60,)).start()\n"
        " return True"),
        "assert f() is True",
    ),
    "open-files": (
        ("import os\nkept = []\ndef f():\n for _ in range(2000): kept.append(os.dup(2))\n"
        " return True"),
        "assert f() is True",
    ),
    "much-output": (
        "for _ in range(300): print('x' * 100000)\ndef f(x): return x", SQUARE,
    ),
}  # fmt: skip

_ENDLESS = {
    "loop": "def f(x):\n while True: pass",
    "ignore-signals": (
        "import signal\nfor s in range(1, 65):\n try: signal.signal(s, signal.SIG_IGN)\n"
        " except (OSError, ValueError): pass\nwhile True: pass"
    ),
    "catch-all": "while True:\n try:\n  while True: pass\n except BaseException: pass",
    "long-power": "def f(x): return 7 ** (10 ** 9)",
    "children-that-stay": (
        "import ctypes, os, signal, subprocess, time\nctypes.CDLL(None).prctl(15, b'$MARK')\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "subprocess.Popen(['sleep', '9$PID'])\n"
        "def leave():\n"
        " if os.fork() == 0:\n"
        "  try: os.setsid()\n  except OSError: pass\n"
        "  if os.fork() == 0:\n   os.closerange(0, 64)\n   time.sleep(99)\n  os._exit(0)\n"
        "for _ in range(5): leave()\nwhile True: pass"
    ),
    "runaway-forks": (
        "import ctypes, os, time\nctypes.CDLL(None).prctl(15, b'$MARK')\n"
        "if os.fork() == 0:\n while True:\n  if os.fork(): os._exit(0)\n"
        "while True: time.sleep(1)"
    ),
}

_NONSENSE = {  # in place of an answer, on the line between the processes
    "huge": "b'=' + (2**62).to_bytes(8, 'little')",
    "deep": "b'=' + (90000).to_bytes(8, 'little') + b't\\1\\0\\0\\0\\0\\0\\0\\0' * 10000",
    "unhashable": (
        "b'=' + (27).to_bytes(8, 'little') + b'z\\1\\0\\0\\0\\0\\0\\0\\0' "
        "+ b'L\\0\\0\\0\\0\\0\\0\\0\\0' + b'N' * 9"
    ),
    "garbage": "b'%' * 99",
}

_SWALLOWED = {  # tests that catch everything still notice that the program is gone
    "bare-except": "try:\n    f(2)\nexcept:\n    pass\nassert f",
}

_EMPTY = {
    "no-test": "",
    "comment": "# assert f(2) == 4",
    "never-called": "def check(g):\n    assert g(2) == 4",
    "constant": "f(2)\nassert True",
    "unreached": "if not f:\n    assert f(2) == 4",
    "nothing-of-the-program": "assert 1 + 1 == 2",
}


def _all() -> dict[str, tuple[str, str]]:
    wrong = "\ndef f(x): return x"
    attacks = {name: (program, SQUARE) for name, program in {**_EXITS, **_MARKS}.items()}
    attacks |= {name: (program + wrong, SQUARE) for name, program in _PATCHES.items()}
    attacks |= {name: (lie + "\ndef f(x): return E()", SQUARE) for name, lie in _LIES.items()}
    first = _LIES["equal-to-all"]
    attacks |= {f"lie-{n}": (f"{first}\n{p}", test) for n, (p, test) in _VALUES.items()}
    attacks |= {f"search-{n}": (p, "assert f(0) == 918273645") for n, p in _SEARCHES.items()}
    handed = "def make():\n    expected = 918273645\n    return lambda: expected\n"
    attacks |= {
        f"callback-{n}": (p, f"{handed}expected = 918273645\nassert f(make()) == expected")
        for n, p in _CALLBACKS.items()
    }
    attacks |= {f"reach-{n}": attack for n, attack in _REACH.items()}
    attacks |= {f"endless-{n}": (p, SQUARE) for n, p in _ENDLESS.items()}
    attacks |= {
        f"nonsense-{n}": (
            (
                f"import os\ndef f(x):\n for fd in range(3, 30):\n  try: os.write(fd, {p})\n"
                "  except OSError: pass\n return x"
            ),
            SQUARE,
        )
        for n, p in _NONSENSE.items()
    }
    attacks |= {
        f"swallowed-{n}": ("import os\ndef f(x): os._exit(0)", t) for n, t in _SWALLOWED.items()
    }
    attacks |= {f"empty-{n}": (HARMLESS[0], test) for n, test in _EMPTY.items()}
    return attacks


ATTACKS = _all()
"""Name -> program, test."""
KIND_MATTERS = {
    name
    for name in ATTACKS
    if name.startswith(("reach-", "search-", "endless-")) or name in {**_EXITS, **_MARKS}
}
"""Attacks whose end depends on the kind of sandbox; the others never get that far."""
