"""Embed scikit-learn's handwritten digits and leave a picture, digits.png."""

import time

from sklearn.datasets import load_digits

from sce import SCE, plot

X, y = load_digits(return_X_y=True)
start = time.perf_counter()
model = SCE(n_neighbors=10, alpha=0.1, random_state=0, verbose=True).fit(X)
print(f"{len(X)} digits embedded in {time.perf_counter() - start:.1f} s; repulsion weight r = {model.scale_:.2f}")
plot.scatter(model.embedding_, labels=y).figure.savefig("digits.png", dpi=150, bbox_inches="tight")
print("Look at digits.png: the clusters of the ten digits, found without the labels that colour them.")
