import { betterAuth } from './better-auth.mjs'
import { braintreeJava, braintreePython } from './braintree.mjs'
import { djStripe } from './dj-stripe.mjs'
import { stripeGo } from './stripe-go.mjs'
import { stripeJava } from './stripe-java.mjs'
import { stripeNode } from './stripe-node.mjs'
import { stripePython } from './stripe-python.mjs'
import { syncEngine } from './sync-engine.mjs'

/**
 * The clients. Each has a `name`; `versions`, each tried separately; `needs`, the commands it
 * requires; `install(folder, version)`; and `run(folder, version)`, which returns the command to
 * run. The command finds the sandbox by STRIPE_URL and STRIPE_KEY, or GATEWAY_PORT. Some have
 * `flags()` for the sandbox's command, or `setUp(folder)`, which returns further environment
 * variables, and `tearDown`. The command's output is read line by line: `ok <step>`, and facts such
 * as `version: 1.2.3`.
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
