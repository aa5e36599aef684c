import { BillableUser, getUserScope as scopeOfUser } from './billable-user.ts'
import type { ResumeOperation } from './core/context.ts'
import type { SubscriptionScope } from './core/subscription-scope.ts'
import type { UserScope } from './core/user-scope.ts'
import * as FEATURES from './features/all.ts'
import type { UnionToIntersection } from './features/define-feature.ts'
import type { BraintreeContext } from './providers/braintree/client.ts'
import type { Capability } from './providers/gateway-parts.ts'
import type { StripeContext } from './providers/stripe/client.ts'
import { Subscription, getSubscriptionScope as scopeOfSubscription } from './subscription.ts'
import type { CapabilitiesOf } from './without.ts'

type Features = typeof FEATURES

/** The context that each feature's gateway code receives, by built-in provider. */
interface BuiltInProviderContexts {
  readonly stripe: StripeContext
  readonly braintree: BraintreeContext
}

/** The gateway parts that the features implement for a provider, combined into one type. */
type ProviderGatewayParts<Provider extends keyof BuiltInProviderContexts> = UnionToIntersection<
  {
    [Name in keyof Features]: Features[Name] extends {
      readonly [Key in Provider]: (context: never) => infer Parts
    }
      ? Parts
      : never
  }[keyof Features]
>

interface AnyFeature {
  readonly capability?: Capability
  readonly user?: Readonly<Record<string, ScopedFeatureMethod>>
  readonly subscription?: Readonly<Record<string, ScopedFeatureMethod>>
  readonly changes?: Readonly<Record<string, ScopedFeatureMethod>>
  readonly subscriptionNeeds?: readonly string[]
  readonly operations?: Readonly<Record<string, ResumeOperation | null>>
  readonly stripe?: (context: never) => object
  readonly braintree?: (context: never) => object
}

type ScopedFeatureMethod = (scope: never, ...args: never[]) => unknown

const ALL_BILLING_FEATURES: readonly AnyFeature[] = Object.values(FEATURES)

/**
 * Names of all capabilities. A capability is an optional part of a provider, such as `quantities`,
 * that some features of billing require.
 */
export const CAPABILITIES: readonly Capability[] = ALL_BILLING_FEATURES.flatMap(
  ({ capability }) => capability ?? [],
)

/** Lists the capabilities that the features implement for a provider. */
export function listCapabilities<Provider extends keyof BuiltInProviderContexts>(
  provider: Provider,
): CapabilitiesOf<Provider>[] {
  const found = ALL_BILLING_FEATURES.filter((feature) => feature.capability && feature[provider])
  return found.map(({ capability }) => capability as CapabilitiesOf<Provider>)
}

/** Builds the gateway of a provider from the parts that the features implement for it. */
export function assembleGateway<Provider extends keyof BuiltInProviderContexts>(
  provider: Provider,
  context: BuiltInProviderContexts[Provider],
): ProviderGatewayParts<Provider> {
  const parts = ALL_BILLING_FEATURES.map((feature) => feature[provider]?.(context as never) ?? {})
  return Object.assign({}, ...parts)
}

/** The capability that each method of users and subscriptions needs, by the method's name. */
export const CAPABILITY_BY_METHOD = {
  user: mapMethodsToCapabilities(({ user }) => Object.keys(user ?? {})),
  subscription: mapMethodsToCapabilities(({ subscription, changes, subscriptionNeeds = [] }) => [
    ...Object.keys({ ...subscription, ...changes }),
    ...subscriptionNeeds,
  ]),
}

function mapMethodsToCapabilities(
  methodsOf: (feature: AnyFeature) => readonly string[],
): Readonly<Record<string, Capability>> {
  return Object.fromEntries(
    ALL_BILLING_FEATURES.flatMap((feature) => {
      const { capability } = feature
      return capability ? methodsOf(feature).map((method) => [method, capability]) : []
    }),
  )
}

/**
 * The functions that finish an interrupted operation after its process was killed, by the kind of
 * operation. `null` for kinds that are finished when the caller repeats the call.
 */
export const RESUME_BY_KIND: Readonly<Record<string, ResumeOperation | null>> = Object.assign(
  {},
  ...ALL_BILLING_FEATURES.map(({ operations }) => operations),
)

// Install the methods of every feature on the prototypes of users and subscriptions.
for (const { capability, user, subscription, changes } of ALL_BILLING_FEATURES) {
  const scopeOf = (on: Subscription) => requireScopeCapability(scopeOfSubscription(on), capability)
  addMethods(BillableUser.prototype, user, (run, on, args) =>
    run(requireScopeCapability(scopeOfUser(on), capability), ...args),
  )
  addMethods(Subscription.prototype, subscription, (run, on, args) => run(scopeOf(on), ...args))
  addMethods(Subscription.prototype, changes, async (run, on, args) => {
    await run(scopeOf(on), ...args)
    const { context, user: owner, record } = scopeOfSubscription(on)
    return new Subscription(context, owner, record)
  })

  function addMethods<T extends object>(
    to: T,
    methods: Readonly<Record<string, ScopedFeatureMethod>> = {},
    call: (run: ScopedFeatureMethod, on: T, args: never[]) => unknown,
  ): void {
    for (const [name, run] of Object.entries(methods)) {
      // Methods that need a capability return a promise, so Unsupported is a rejection and not a
      // synchronous throw.
      const value = capability
        ? async function (this: T, ...args: never[]) {
            return call(run, this, args)
          }
        : function (this: T, ...args: never[]) {
            return call(run, this, args)
          }
      Object.defineProperty(to, name, { value, writable: true, configurable: true })
    }
  }
}

/**
 * Returns the scope to pass to a method of a user or a subscription.
 * @throws Unsupported if the provider lacks the capability that the method needs.
 */
function requireScopeCapability(
  scope: UserScope | SubscriptionScope,
  capability: Capability | undefined,
): never {
  return (capability ? scope.withCapability(capability) : scope) as never
}
