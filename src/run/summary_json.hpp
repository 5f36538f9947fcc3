#pragma once
#include <vector>

#include "core/json.hpp"
#include "core/timing.hpp"
#include "events/inlets.hpp"
#include "neighbors/load_balancer.hpp"
#include "run/end_text.hpp"
#include "schemes/common/stepper.hpp"
#include "state/state.hpp"

/// Parts of summary.json. Local.
namespace scree {

Json json_of(const std::vector<TimerRow>& timers);
Json json_of(const LoadReport& load);
Json json_of(const std::vector<CertificateEntry>& certificate);
Json json_of(const std::vector<WorstOfSteps>& worst);

/// What each inlet has made, as the entry "inlets"; none without inlets.
template <int D>
void add_inlets(const Inlets<D>& inlets, const State<D>& state, Json& summary);

}  // namespace scree
