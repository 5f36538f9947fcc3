"""Checks files in the global layout of FCLIB with a guess: read_fclib.py FILE... Exit code 77: no h5py.

M v = H r + f and u = H^T v + w must hold to round-off, and Coulomb's law to a small residual; if contacts are
compliant, with u + G r in place of u. Types and shapes are those that fclib reads."""
import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)


def vector(group, name):
    data = group[name]
    assert data.dtype == np.float64 and data.ndim == 1, name
    return data[...]


def integers(group, name):
    data = group[name]
    assert data.dtype == np.int32 and data.ndim == 1, name
    return data[...]


def matrix(group):
    """A triplet matrix: `i` the row, `p` the column, repeated entries are added."""
    m, n, nz, nzmax = (int(integers(group, name)[0]) for name in ("m", "n", "nz", "nzmax"))
    assert nz == nzmax == len(group["x"])
    dense = np.zeros((m, n))
    np.add.at(dense, (integers(group, "i"), integers(group, "p")), vector(group, "x"))
    return dense


def close(found, expected, terms, relative):
    """Compares to a share of the largest number that was added up."""
    scale = max(np.abs(term).max() for term in terms)
    assert scale > 0 and np.abs(found - expected).max() <= relative * scale, (np.abs(found - expected).max(), scale)


def projected(x, mu):
    """The nearest point of the cone |x_T| <= mu x_N, contact by contact."""
    t = np.linalg.norm(x[:, 1:], axis=1)
    along = np.maximum((x[:, 0] + mu * t) / (1 + mu**2), 0)
    inside = t <= mu * x[:, 0]
    direction = x[:, 1:] / np.where(t > 0, t, 1)[:, None]
    return np.where(inside[:, None], x, np.column_stack((along, (mu * along)[:, None] * direction)))


def check(path):
    with h5py.File(path, "r") as file:
        problem = file["fclib_global"]
        d = int(integers(problem, "spacedim")[0])
        M, H = matrix(problem["M"]), matrix(problem["H"])
        f, w, mu = (vector(problem["vectors"], name) for name in ("f", "w", "mu"))
        assert list(integers(file["guesses"], "number_of_guesses")) == [1]
        v, u, r = (vector(file["guesses/1"], name) for name in "vur")
        assert M.shape == (len(f), len(f)) and H.shape == (len(f), len(w)) and len(w) == d * len(mu)
        for name, start in (("title", b"solved"), ("description", b"" if "compliance" not in file["scree"] else b"contacts"),
                            ("math_info", b"")):
            text = problem["info"][name]
            assert h5py.check_string_dtype(text.dtype).length == len(text[()]) + 1, "with a null at its end"
            assert text[()].startswith(start), name
        compliance = file["scree/compliance"][...] if "compliance" in file["scree"] else np.zeros((len(mu), 2))

    assert (M == M.T).all() and np.linalg.eigvalsh(M)[0] > 0
    close(M @ v, H @ r + f, (M @ v, H @ r, f), 1e-13)
    close(u, H.T @ v + w, (H.T @ v, u), 1e-13)

    G = np.column_stack([compliance[:, min(k, 1)] for k in range(d)])
    R = r.reshape(-1, d)
    U = u.reshape(-1, d) + G * R
    assert R[:, 0].max() > 0 and np.abs(U).max() > 0
    # In units in which W is about the identity.
    weight = np.trace(H.T @ np.linalg.solve(M, H)) / len(w)
    shifted = U + np.column_stack((mu * np.linalg.norm(U[:, 1:], axis=1), *[0 * mu] * (d - 1)))
    error = R - projected(R - shifted / weight, mu)
    assert np.abs(error).max() <= 1e-6 * np.abs(R).max(), np.abs(error).max() / np.abs(R).max()


for argument in sys.argv[1:]:
    check(argument)
