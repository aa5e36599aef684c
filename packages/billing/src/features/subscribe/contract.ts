// These parts have no methods: they only permit further terms in `createSubscription`.
declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /**
     * Support for new subscriptions whose whole periods begin on a given day: `anchorAt`, and
     * `prorate` for the time before.
     */
    readonly anchors: true
    /**
     * Support for new subscriptions that start in the past: `backdateTo`, and `prorate` for the
     * time since.
     */
    readonly backdating: true
    /** Support for new subscriptions without a card while they cost nothing: `withoutCard`. */
    readonly freeStarts: true
  }
}

export {}
