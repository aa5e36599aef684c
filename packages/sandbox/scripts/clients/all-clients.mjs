import { betterAuth } from './better-auth.mjs'
import { braintreeJava, braintreePython } from './braintree.mjs'
import { djStripe } from './dj-stripe.mjs'
import { stripeGo } from './stripe-go.mjs'
import { stripeJava } from './stripe-java.mjs'
import { stripeNode } from './stripe-node.mjs'
import { stripePython } from './stripe-python.mjs'
import { syncEngine } from './sync-engine.mjs'

/**
 * A client: `name`; `versions`, each tried alone; `needs`, the commands it cannot do without;
 * `install(folder, version)`; and `run(folder, version)`, the command that tries it, which finds the
 * sandbox by STRIPE_URL and STRIPE_KEY, or GATEWAY_PORT. Some bring `flags()` for the sandbox's command, or a
 * `setUp(folder)` that gives more such names and a `tearDown`. What the command prints is read line by line: `ok <step>`, and facts as `version: 1.2.3`.
 */
export const CLIENTS = [
  djStripe,
  syncEngine,
  betterAuth,
  stripeNode,
  stripePython,
  stripeGo,
  stripeJava,
  braintreePython,
  braintreeJava,
]
