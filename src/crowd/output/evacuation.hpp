#pragma once
#include <span>
#include <string>
#include <vector>

#include "crowd/departure.hpp"
#include "crowd/hazard/hazard.hpp"
#include "crowd/lifts.hpp"
#include "crowd/locks.hpp"
#include "crowd/output/departure_curve.hpp"
#include "crowd/queues.hpp"
#include "io/environment_output.hpp"

namespace scree {

class CrowdEnvironment;

/// A name of the deck as part of the name of a column: what has a meaning in CSV or XML files becomes "_".
std::string column_name(std::string name);

/// The result of an evacuation.
struct EvacuationReport {
  EnvironmentWriter<2>::Summary summary;
  std::string exits;  ///< the table NAME.exits.csv
};
/// `came`: how many came during the run; `began`: time of the first row of the curve [s]. Collective.
EvacuationReport evacuation_report(const State<2>& state, const DepartureCurve& curve, std::int64_t came,
                                   Real began, const Hazard& hazard);

/// Adds how each queue did.
void add_queues(std::span<const QueueLine> queues, const std::vector<QueueReport>& reports,
                EnvironmentWriter<2>::Summary& summary);
/// Adds how long people waited for others of their group, as GroupWalk::waited() has it.
void add_waiting_of_groups(const State<2>& state, std::span<const Real> waited,
                           EnvironmentWriter<2>::Summary& summary);

/// Adds how many left by exits that they were not bound for: by exit of state.outlets.
void add_left_elsewhere(const State<2>& state, std::span<const Real> left_elsewhere,
                        EnvironmentWriter<2>::Summary& summary);
/// Adds locks so far, and how many people are locked at the end. Collective.
void add_locks(const State<2>& state, const Locks& locks, const CrowdEnvironment& environment,
               EnvironmentWriter<2>::Summary& summary);
/// Adds what each lift did.
void add_lifts(const std::vector<LiftReport>& reports, EnvironmentWriter<2>::Summary& summary);

/// t50 to t100, the mean time and, of each exit, persons and flow, from the reports of runs (JSON texts).
std::vector<EnsembleQuantity> evacuation_quantities(std::span<const std::string> summaries);

}  // namespace scree
