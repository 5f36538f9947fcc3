#pragma once
#include <optional>
#include <string>

#include "io/fclib_file.hpp"
#include "replay/split_problem.hpp"

namespace scree {

/// A global FCLIB problem as one of rigid bodies: velocities q b to q b + q - 1, q = n_velocities<D>, are
/// those of body b, contacts keep their numbers. In the terms of FrictionProblem, H of the file is the
/// transpose of the Jacobian, a the lower-numbered body of a contact (-1 if it has one body only) and b the
/// other, signs as they are; v_free = M^-1 f, body by body, or what the file says if that gives f.
/// Compliance, start velocities, time step and velocity floor are those of the file, if it is one of scree.
///
/// Returns nothing on all ranks, with the cause in `reason` (if not null), if the problem is local or of
/// another dimension, has bilateral constraints, couples velocities of different bodies in M, or has a
/// contact with none or with more than two bodies. Entries of M are sent to the rank of their body, those of
/// H to that of their contact, in even shares (core/even_share.hpp); nothing is gathered. Collective.
template <int D>
std::optional<ProblemShare<D>> rigid_share(const Comm& comm, const FclibProblem& problem,
                                           std::string* reason = nullptr);

}  // namespace scree
