#include "state/domain_deformation.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace scree {

namespace {

bool was_given(Real number) {
  return !std::isnan(number);
}
std::string axis_name(int axis) {
  return std::string(1, "xyz"[axis]);
}

/// Keys that the domain and stages have in common.
template <int D>
void describe_common(Section& section, DeformationOrder<D>& order) {
  section.real("shear_rate", order.shear_rate,
               {.unit = Unit::rate,
                .doc = "Rate of shear: how much the velocity along flow grows per length along gradient"});
  section.optional_table("strain_rate",
                         {.doc = "Rates of strain along axes, positive: the domain gets longer"},
                         [&](Section& rates) {
                           for (int k = 0; k < D; ++k)
                             rates.real(axis_name(k), order.strain_rate[k],
                                        {.unit = Unit::rate, .doc = "Along this axis; not given: as it was"});
                         });
  section.optional_table(
      "stress", {.doc = "Normal stresses along axes that the domain is to have; its lengths follow them"},
      [&](Section& stress) {
        for (int k = 0; k < D; ++k)
          stress.real(axis_name(k), order.stress[k],
                      {.unit = Unit::pressure,
                       .range = positive,
                       .doc = "Along this axis, compression positive; not given: as it was"});
      });
  section.real("pressure", order.pressure,
               {.unit = Unit::pressure,
                .range = positive,
                .doc = "Mean normal stress that the domain is to have; all its axes strain alike"});
  section.real("shear_stress", order.shear_stress,
               {.unit = Unit::pressure,
                .doc = "Shear stress that the domain is to have, positive: it drives bodies along flow where "
                       "they are further along gradient; its rate of shear follows it"});
  if (!section.reading()) return;
  if (was_given(order.shear_stress) && was_given(order.shear_rate))
    section.fail("shear_stress", "the domain has a shear_stress and a shear_rate: give one of them");
  for (int k = 0; k < D; ++k) {
    if (was_given(order.stress[k]) && was_given(order.strain_rate[k]))
      section.fail("stress",
                   fmt::format("axis {} has a stress and a strain_rate: give one of them", axis_name(k)));
    if (was_given(order.pressure) && (was_given(order.stress[k]) || was_given(order.strain_rate[k])))
      section.fail("pressure", "pressure moves all axes alike: remove stress and strain_rate beside it");
  }
}

}  // namespace

template <int D>
void DomainDeformation<D>::describe(Section& domain, Box<D>& box) {
  domain.optional_table(
      "deformation",
      {.doc =
           "A periodic domain that is sheared, strained, or brought to stresses. All axes must be periodic; "
           "without "
           "obstacles, gravity, inlets and outlets"},
      [&](Section& section) {
        int flow = -1, gradient = -1;
        std::vector<Word<int>> axes{{"none", -1}};
        for (int k = 0; k < D; ++k)
          axes.push_back({std::string_view("xyz").substr(static_cast<std::size_t>(k), 1), k});
        section.choice("flow", flow, axes, {.doc = "Axis along which a sheared domain flows"});
        section.choice("gradient", gradient, axes,
                       {.doc = "Axis along which the velocity of the flow changes"});
        describe_common(section, first_order_);
        section.real(
            "max_rate", max_rate_,
            {.unit = Unit::rate,
             .range = non_negative,
             .doc = "Fastest strain along an axis whose stress is asked for, taken while it is off "
                    "by as much as that, and fastest shear that follows a shear_stress; required for "
                    "stress, pressure and shear_stress"});
        section.real("response_time", response_time_,
                     {.unit = Unit::time,
                      .range = positive,
                      .doc = "Shortest time in which a residual of stress falls by a factor e; 20 "
                             "steps if not given"});
        if (!section.reading()) return;
        is_given_ = true;
        where_ = section.where("shear_rate");
        if ((flow < 0) != (gradient < 0) || (flow >= 0 && flow == gradient))
          section.fail("gradient", "flow and gradient belong together: two different axes");
        box.flow = flow;
        box.gradient = gradient;
        check_order(box, first_order_, where_);
      });
}

template <int D>
void DomainDeformation<D>::describe_order(Section& stage, DeformationOrder<D>& order, std::string& where) {
  stage.optional_table(
      "deformation",
      {.doc = "What [domain.deformation] is asked to do from the beginning of the stage on; what is "
              "not given goes on as before"},
      [&](Section& section) {
        describe_common(section, order);
        if (section.reading()) where = section.where("shear_rate");
      });
}

template <int D>
void DomainDeformation<D>::check_order(const Box<D>& box, const DeformationOrder<D>& order,
                                       const std::string& where) const {
  const auto fail = [&](const std::string& what) { throw InputError(fmt::format("{}: {}", where, what)); };
  if (!is_given_) fail("the stage deforms the domain, but there is no [domain.deformation]");
  for (const auto& [name, number] :
       {std::pair("shear_rate", order.shear_rate), {"shear_stress", order.shear_stress}})
    if (was_given(number) && box.gradient < 0)
      fail(fmt::format("{} needs the axes flow and gradient in [domain.deformation]", name));
  if (order.sets_stress() && !(max_rate_ > 0))
    fail(
        "stress, pressure and shear_stress need max_rate in [domain.deformation], the fastest rate of "
        "strain");
}

template <int D>
void DomainDeformation<D>::change_order(const DeformationOrder<D>& order) {
  if (was_given(order.shear_rate) || was_given(order.shear_stress)) {
    order_.shear_rate = order.shear_rate;
    order_.shear_stress = order.shear_stress;
  }
  if (was_given(order.pressure)) {
    order_.pressure = order.pressure;
    order_.stress = order_.strain_rate = filled<D>(NAN);
  } else if (order.sets_strain()) {
    order_.pressure = NAN;
  }
  for (int k = 0; k < D; ++k) {
    if (was_given(order.stress[k])) {
      order_.stress[k] = order.stress[k];
      order_.strain_rate[k] = NAN;
    } else if (was_given(order.strain_rate[k])) {
      order_.strain_rate[k] = order.strain_rate[k];
      order_.stress[k] = NAN;
    }
  }
}

template <int D>
Real DomainDeformation<D>::stress_residual() const {
  Real max = 0, mean = 0;
  for (int k = 0; k < D; ++k) {
    mean += response_.stress[k] / D;
    if (was_given(order_.stress[k]))
      max = std::max(max, std::abs(response_.stress[k] / order_.stress[k] - 1));
  }
  if (was_given(order_.pressure)) max = std::max(max, std::abs(mean / order_.pressure - 1));
  if (follows_shear_stress())
    max = std::max(max, std::abs(response_.shear_stress - order_.shear_stress) / largest_target());
  return max;
}

/// Residual of a stress over rate of strain [Pa s]. One as large as what is asked for strains at
/// max_rate. Where contacts are stiff that is too much: there strains relax a residual within the response
/// time, sigma' = -modulus strain_rate.
template <int D>
Real DomainDeformation<D>::resistance_to(Real target, Real dt) const {
  return std::max(target / max_rate_, response_.modulus * response_time(dt));
}

template <int D>
Real DomainDeformation<D>::choose_motion(const Box<D>& box, Real dt, Real answer) {
  if (!is_given_) return 0;
  Real mean = 0, change = 0;
  const auto follow = [&](Real now, Real lasting, Real residual, Real target) {
    const Real resistance = resistance_to(target, dt);
    const Real rate = std::clamp(lasting + residual / resistance, -max_rate_, max_rate_);
    change = std::max(change, resistance * std::abs(rate - now) / target);
    return answer > 0 ? now + (rate - now) / (1 + answer / resistance) : rate;
  };
  const Real shear_before = shear_rate(box);
  for (int k = 0; k < D; ++k) mean += response_.stress[k] / D;
  for (int k = 0; k < D; ++k) {
    Real rate = 0;
    if (follows_stress(k)) {
      const bool is_mean = was_given(order_.pressure);
      const Real target = is_mean ? order_.pressure : order_.stress[k];
      rate = follow(strain_rate(box, k), 0, (is_mean ? mean : response_.stress[k]) - target, target);
    } else if (was_given(order_.strain_rate[k])) {
      rate = order_.strain_rate[k];
    }
    speed_[k] = rate * box.length(k);
  }
  Real shear = was_given(order_.shear_rate) ? order_.shear_rate : 0;
  if (follows_shear_stress())
    shear = follow(shear_before, lasting_shear_rate_, order_.shear_stress - response_.shear_stress,
                   largest_target());
  slip_ = box.gradient < 0 ? 0 : shear * box.length(box.gradient) + strain_rate(box, box.flow) * box.offset;
  moves_ = speed_ != Vec<D>{} || slip_ != 0;
  return change;
}

template <int D>
Box<D> DomainDeformation<D>::box_after(const Box<D>& box, Real dt) const {
  Box<D> after = box;
  for (int k = 0; k < D; ++k) {
    if (speed_[k] == 0) continue;
    after.lower[k] -= 0.5 * dt * speed_[k];
    after.upper[k] += 0.5 * dt * speed_[k];
  }
  after.offset += dt * slip_;
  return after;
}

template <int D>
bool DomainDeformation<D>::advance(Box<D>& box, Real dt, Real share) {
  lasting_shear_rate_ += share * (shear_rate(box) - lasting_shear_rate_);
  if (!moves_) return false;
  shear_strain_ += dt * shear_rate(box);
  box = box_after(box, dt);
  return true;
}

template <int D>
std::int64_t DomainDeformation<D>::flip(Box<D>& box) {
  if (box.gradient < 0) return 0;
  const Real length = box.length(box.flow);
  if (std::abs(box.offset) <= 0.5 * length) return 0;
  const Real periods = std::round(box.offset / length);
  box.offset -= periods * length;
  return static_cast<std::int64_t>(periods);
}

template <int D>
typename DomainDeformation<D>::AffineDisplacement DomainDeformation<D>::affine_displacement(const Box<D>& box,
                                                                                            Real dt) const {
  AffineDisplacement affine{.centre = box.centre(), .flow = box.flow, .gradient = box.gradient};
  for (int k = 0; k < D; ++k) affine.stretch[k] = (box.length(k) + dt * speed_[k]) / reference_.length(k) - 1;
  if (box.gradient >= 0)
    affine.shear = (box.offset + dt * slip_) / reference_.length(box.gradient) -
                   (1 + affine.stretch[box.flow]) * reference_.lean();
  return affine;
}

/// A step that begins may have a faster strain than the last one.
template <int D>
Real DomainDeformation<D>::strain_since_reference(const Box<D>& box, Real dt) const {
  return is_given_ ? affine_displacement(box, 0).strain() + dt * fastest() : 0;
}

template <int D>
Real DomainDeformation<D>::fastest() const {
  if (!is_given_) return 0;
  const Real shear = follows_shear_stress()         ? max_rate_
                     : was_given(order_.shear_rate) ? order_.shear_rate
                                                    : 0;
  Real squared = shear * shear;
  for (int k = 0; k < D; ++k) {
    const Real rate = follows_stress(k)                  ? max_rate_
                      : was_given(order_.strain_rate[k]) ? order_.strain_rate[k]
                                                         : 0;
    squared += rate * rate;
  }
  return std::sqrt(squared);
}

template <int D>
void DomainDeformation<D>::restore(const Box<D>& box) {
  reference_.periodic = box.periodic;
  reference_.flow = box.flow;
  reference_.gradient = box.gradient;
  set_motion(motion());
}

template class DomainDeformation<2>;
template class DomainDeformation<3>;

}  // namespace scree
