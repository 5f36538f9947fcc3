// Boxes by Bullet: sequential impulses with the defaults of the library, nothing falls asleep. A plane is the
// face of a large box at rest: the library keeps four points of two boxes, but finds one of a plane in a
// step.
#include <btBulletDynamicsCommon.h>

#include <memory>

#include "box_scene.hpp"

namespace {

btVector3 vector(const std::array<double, 3>& v) {
  return {static_cast<btScalar>(v[0]), static_cast<btScalar>(v[1]), static_cast<btScalar>(v[2])};
}

struct Body {
  std::unique_ptr<btBoxShape> shape;
  std::unique_ptr<btRigidBody> body;
};

Body body(const btVector3& half_edges, const btTransform& at, double mass, double friction) {
  Body made{std::make_unique<btBoxShape>(half_edges), nullptr};
  btVector3 inertia(0, 0, 0);
  if (mass > 0) made.shape->calculateLocalInertia(static_cast<btScalar>(mass), inertia);
  btRigidBody::btRigidBodyConstructionInfo info(static_cast<btScalar>(mass), nullptr, made.shape.get(),
                                                inertia);
  info.m_startWorldTransform = at;
  info.m_friction = static_cast<btScalar>(std::sqrt(friction));  // a contact has the product of two
  made.body = std::make_unique<btRigidBody>(info);
  made.body->setActivationState(DISABLE_DEACTIVATION);
  return made;
}

}  // namespace

int main(int n_arguments, char** arguments) {
  const Task task = read_task(n_arguments, arguments);
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity({0, 0, btScalar(-9.81)});
  world.getSolverInfo().m_numIterations = task.iterations;

  std::vector<Body> bodies;
  for (const Box& box : task.scene.boxes) {
    const auto& q = box.turn;
    const btQuaternion turn(static_cast<btScalar>(q[1]), static_cast<btScalar>(q[2]),
                            static_cast<btScalar>(q[3]), static_cast<btScalar>(q[0]));
    bodies.push_back(body(vector(box.edges) / 2, btTransform(turn, vector(box.x)), mass_of(task.scene, box),
                          task.scene.friction));
  }
  const btScalar size = 10;
  for (const auto& plane : task.scene.planes) {
    const btTransform at(btQuaternion::getIdentity(), vector(plane.point) - size * vector(plane.normal));
    bodies.push_back(body({size, size, size}, at, 0, task.scene.friction));
  }
  for (auto& made : bodies) world.addRigidBody(made.body.get());

  run(
      task, [&] { world.stepSimulation(static_cast<btScalar>(task.step), 0); },
      [&](std::size_t i) -> std::array<double, 7> {
        const btTransform& at = bodies[i].body->getWorldTransform();
        const btVector3& x = at.getOrigin();
        const btQuaternion q = at.getRotation();
        return {x.x(), x.y(), x.z(), q.w(), q.x(), q.y(), q.z()};
      });
  for (auto& made : bodies) world.removeRigidBody(made.body.get());
}
