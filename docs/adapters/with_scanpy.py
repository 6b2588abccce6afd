"""Known cell types in, clusters out, for scanpy."""

import anndata
import numpy as np
import scanpy as sc

import cluewise as cw

rng = np.random.default_rng(0)
kind = np.repeat(["B", "T", "NK"], 60)
genes = rng.poisson(1 + 6 * (np.arange(30) % 3 == np.repeat([0, 1, 2], 60)[:, None]))
adata = anndata.AnnData(genes.astype(np.float32))
sc.pp.normalize_total(adata)
sc.pp.log1p(adata)
sc.pp.pca(adata, n_comps=5)

adata.obs["known"] = np.where(np.arange(180) % 20 == 0, kind, None)  # three cells of each type
cw.adapters.cluster_cells(adata, cw.Cluewise(3, random_state=0), known="known")

assert (adata.obs["cluewise"].astype(str).to_numpy() == kind).mean() > 0.95
assert adata.obs["cluewise_margin"].between(0, 1).all()
sc.tl.rank_genes_groups(adata, "cluewise", method="t-test")  # as with clusters of scanpy
