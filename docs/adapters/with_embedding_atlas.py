"""A Parquet file that Embedding Atlas shows."""

import subprocess
import sys
import time
import urllib.request

from sklearn.datasets import load_wine

import cluewise as cw

wine = load_wine(as_frame=True)
X = (wine.data - wine.data.mean()) / wine.data.std()
model = cw.Cluewise(3, random_state=0).fit(X)
cw.adapters.write_atlas("wine.parquet", wine.data, model, X=X)

# In a terminal: embedding-atlas wine.parquet --x x --y y
command = "import sys; from embedding_atlas.cli import main; main(sys.argv[1:])"
options = ["wine.parquet", "--x", "x", "--y", "y", "--port", "5055", "--host", "127.0.0.1"]
server = subprocess.Popen([sys.executable, "-c", command, *options])
try:
    for _ in range(120):
        try:
            page = urllib.request.urlopen("http://127.0.0.1:5055/data/metadata.json", timeout=5).read()
            break
        except OSError:
            time.sleep(0.5)
    assert b'"x"' in page
    assert len(urllib.request.urlopen("http://127.0.0.1:5055/data/dataset.parquet", timeout=5).read()) > 5000
finally:
    server.kill()
