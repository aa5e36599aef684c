import fc from 'fast-check'
import type { BillableUser, Subscription } from '../../src/index.ts'
import type { World } from './world.ts'

export interface Step {
  readonly name: string
  readonly run: (world: World) => Promise<unknown>
}

/** A step that prints as its name in a counterexample. */
export function step(name: string, run: Step['run']): Step {
  return Object.assign({ name, run }, { [fc.toStringMethod]: () => name })
}

/** What the application does for its user. */
export function own(
  name: string,
  run: (user: BillableUser, world: World) => Promise<unknown>,
): Step {
  return step(name, (world) => world.attempt((user) => run(user, world)))
}

/** The same, to the subscription. */
export function ofMain(
  name: string,
  run: (subscription: Subscription, world: World) => Promise<unknown>,
): Step {
  return own(name, async (user, world) => run(await user.subscription('main'), world))
}

/** Behind the counter: the one customer of this history. */
export function customerOf({ sandbox, given }: World): string {
  const [customer] =
    given.provider === 'stripe' ? sandbox.stripe.customers() : sandbox.braintree.customers()
  return customer?.id ?? ''
}
