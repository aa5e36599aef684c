import fc from 'fast-check'
import type { BillableUser, Subscription } from '../../src/index.ts'
import type { World } from './world.ts'

export interface Step {
  readonly name: string
  readonly run: (world: World) => Promise<unknown>
}

/** Makes a step that is printed by its name in a counterexample. */
export function step(name: string, run: Step['run']): Step {
  return Object.assign({ name, run }, { [fc.toStringMethod]: () => name })
}

/** Makes a step in which the application calls a method of its user. */
export function userStep(
  name: string,
  run: (user: BillableUser, world: World) => Promise<unknown>,
): Step {
  return step(name, (world) => world.attempt((user) => run(user, world)))
}

/** Makes a step in which the application calls a method of the subscription. */
export function mainSubscriptionStep(
  name: string,
  run: (subscription: Subscription, world: World) => Promise<unknown>,
): Step {
  return userStep(name, async (user, world) => run(await user.subscription('main'), world))
}

/** Reads the id of the history's only customer directly from the sandbox. */
export function customerOf({ sandbox, given }: World): string {
  const [customer] =
    given.provider === 'stripe' ? sandbox.stripe.customers() : sandbox.braintree.customers()
  return customer?.id ?? ''
}
