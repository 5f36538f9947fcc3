// Boxes by the Open Dynamics Engine: its iterative solver (quickstep) with the library's defaults for errors
// and compliance, a pyramid for friction, up to eight points per pair.
#include <ode/ode.h>

#include "box_scene.hpp"

namespace {

struct World {
  dWorldID world = dWorldCreate();
  dSpaceID space = dHashSpaceCreate(nullptr);
  dJointGroupID contacts = dJointGroupCreate(0);
  double friction = 0;
};

void touch(void* data, dGeomID a, dGeomID b) {
  auto& world = *static_cast<World*>(data);
  constexpr int most_points = 8;
  dContact points[most_points];
  const int n = dCollide(a, b, most_points, &points[0].geom, sizeof(dContact));
  for (int i = 0; i < n; ++i) {
    points[i].surface = {};
    points[i].surface.mode = dContactApprox1;
    points[i].surface.mu = static_cast<dReal>(world.friction);
    dJointAttach(dJointCreateContact(world.world, world.contacts, &points[i]), dGeomGetBody(a),
                 dGeomGetBody(b));
  }
}

}  // namespace

int main(int n_arguments, char** arguments) {
  const Task task = read_task(n_arguments, arguments);
  dInitODE2(0);
  World world;
  world.friction = task.scene.friction;
  dWorldSetGravity(world.world, 0, 0, dReal(-9.81));
  dWorldSetQuickStepNumIterations(world.world, task.iterations);
  for (const auto& [point, normal] : task.scene.planes) {
    const double along = point[0] * normal[0] + point[1] * normal[1] + point[2] * normal[2];
    dCreatePlane(world.space, static_cast<dReal>(normal[0]), static_cast<dReal>(normal[1]),
                 static_cast<dReal>(normal[2]), static_cast<dReal>(along));
  }
  std::vector<dBodyID> bodies;
  for (const Box& box : task.scene.boxes) {
    const dReal edges[] = {static_cast<dReal>(box.edges[0]), static_cast<dReal>(box.edges[1]),
                           static_cast<dReal>(box.edges[2])};
    const dQuaternion turn = {static_cast<dReal>(box.turn[0]), static_cast<dReal>(box.turn[1]),
                              static_cast<dReal>(box.turn[2]), static_cast<dReal>(box.turn[3])};
    dMass mass;
    dMassSetBoxTotal(&mass, static_cast<dReal>(mass_of(task.scene, box)), edges[0], edges[1], edges[2]);
    const dBodyID body = dBodyCreate(world.world);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, static_cast<dReal>(box.x[0]), static_cast<dReal>(box.x[1]),
                     static_cast<dReal>(box.x[2]));
    dBodySetQuaternion(body, turn);
    dGeomSetBody(dCreateBox(world.space, edges[0], edges[1], edges[2]), body);
    bodies.push_back(body);
  }

  run(
      task,
      [&] {
        dSpaceCollide(world.space, &world, touch);
        dWorldQuickStep(world.world, static_cast<dReal>(task.step));
        dJointGroupEmpty(world.contacts);
      },
      [&](std::size_t i) -> std::array<double, 7> {
        const dReal *x = dBodyGetPosition(bodies[i]), *q = dBodyGetQuaternion(bodies[i]);
        return {x[0], x[1], x[2], q[0], q[1], q[2], q[3]};
      });
}
