import { randomBytes } from 'node:crypto'
import type { ProviderName } from '@tollgate/billing'
import type { ServiceContext } from '../../../context.ts'
import type { ContentPolicy } from '../../parts/render.tsx'
import { BadChoice } from './problems.ts'
import { findTestCard } from './test-cards.ts'

/**
 * How people enter a card on the page. The provider's script receives the card number and returns a
 * token, so the number never passes through the service. In a demo people choose a test card, or
 * use the sandbox's substitute for the script.
 */
export interface CardEntry {
  readonly provider: ProviderName
  readonly kind: 'test' | 'script' | 'missing'
  /** Stripe's publishable key. `null` at Braintree, or if none is configured. */
  readonly key: string | null
  /** URLs of the provider's scripts, or of the sandbox's in a demo. */
  readonly scripts: readonly string[]
  /** Content security policy sources that these scripts need. */
  readonly policy: ContentPolicy
  /** Whether the scripts open windows on other origins, as PayPal's button does. */
  readonly opensWindows: boolean
  /** Nonce for elements that PayPal's script adds to the page. `null` at Stripe. */
  readonly nonce: string | null
}

/** Path with the version of braintree-web, which must be the same for all of its files. */
const BRAINTREE_WEB = '/web/3.144.0/js'

/** Paths of the scripts at the provider or the sandbox. */
const PATHS: Readonly<Record<ProviderName, readonly string[]>> = {
  stripe: ['/v3/'],
  braintree: [
    `${BRAINTREE_WEB}/client.min.js`,
    `${BRAINTREE_WEB}/hosted-fields.min.js`,
    `${BRAINTREE_WEB}/three-d-secure.min.js`,
    `${BRAINTREE_WEB}/paypal-checkout.min.js`,
  ],
}

export function createCardEntry(service: ServiceContext, provider: ProviderName): CardEntry {
  const { sandbox, config } = service
  const opensWindows = provider === 'braintree'
  const nonce = opensWindows ? randomBytes(16).toString('base64url') : null
  const from = (base: string, policy: ContentPolicy) => {
    const scripts = PATHS[provider].map((path) => `${base}${path}`)
    return { provider, nonce, opensWindows, scripts, policy }
  }
  if (sandbox) {
    const { url } = sandbox[provider]
    const key = provider === 'stripe' ? sandbox.stripe.publishableKey : null
    return { ...from(url, sandboxPolicy(url, nonce)), kind: 'test', key }
  }
  if (provider === 'braintree') {
    const { environment, apiUrl = null } = config.braintree ?? {}
    // A sandbox in another process serves the scripts, too, because Braintree's own do not accept
    // its address.
    const base = apiUrl === null ? 'https://js.braintreegateway.com' : new URL(apiUrl).origin
    const isLive = environment === 'production'
    const policy = apiUrl === null ? braintreePolicy(isLive, nonce) : sandboxPolicy(apiUrl, nonce)
    return { ...from(base, policy), kind: 'script', key: null }
  }
  const key = config.stripePublishableKey
  if (key === null) return { ...from('', {}), kind: 'missing', key, scripts: [] }
  return { ...from('https://js.stripe.com', STRIPE_POLICY), kind: 'script', key }
}

function sandboxPolicy(url: string, nonce: string | null): ContentPolicy {
  const { origin } = new URL(url)
  return {
    'script-src': [origin],
    ...(nonce === null ? {} : { 'style-src': [`'nonce-${nonce}'`] }),
    'frame-src': [origin],
    'connect-src': [origin],
  }
}

/** https://docs.stripe.com/security/guide#content-security-policy */
const STRIPE_POLICY: ContentPolicy = {
  'script-src': ['https://js.stripe.com', 'https://*.js.stripe.com'],
  'frame-src': ['https://js.stripe.com', 'https://*.js.stripe.com', 'https://hooks.stripe.com'],
  'connect-src': ['https://api.stripe.com'],
}

/**
 * Sources that hosted fields, 3-D Secure and PayPal's button need.
 * https://braintree.github.io/braintree-web/current/#content-security-policy
 * https://developer.paypal.com/sdk/js/best-practices
 */
function braintreePolicy(isLive: boolean, nonce: string | null): ContentPolicy {
  const part = isLive ? '' : 'sandbox.'
  const paypal = ['https://*.paypal.com', 'https://*.paypalobjects.com']
  const cardinal = isLive
    ? ['https://songbird.cardinalcommerce.com', 'https://static.client.cardinaltrusted.com']
    : ['https://songbirdstag.cardinalcommerce.com', 'https://cas.static.client.cardinaltrusted.com']
  return {
    'script-src': [
      'https://js.braintreegateway.com',
      'https://assets.braintreegateway.com',
      ...cardinal,
      ...paypal,
      `'nonce-${nonce}'`,
    ],
    'style-src': [`'nonce-${nonce}'`],
    // Hosted fields hide inputs with style attributes, on phones and in Firefox.
    'style-src-attr': ["'unsafe-inline'"],
    'img-src': ['https://assets.braintreegateway.com', ...paypal, 'data:'],
    // 3-D Secure embeds a page of the card's bank and posts a form to it. Each bank has its own
    // origin.
    'frame-src': ['https:'],
    'form-action': ['https:'],
    'connect-src': [
      `https://api.${part}braintreegateway.com`,
      `https://client-analytics.${part}braintreegateway.com`,
      'https://*.braintree-api.com',
      'https://*.cardinalcommerce.com',
      'https://*.cardinaltrusted.com',
      ...paypal,
    ],
  }
}

/**
 * Valid tokens: payment method ids of Stripe, nonces of Braintree. Only the provider can tell
 * whether they are real.
 */
const TOKENS: Readonly<Record<ProviderName, RegExp>> = {
  stripe: /^pm_\w{1,200}$/,
  braintree: /^[\w-]{1,200}$/,
}

/** Valid tokens for a typed card in a demo. */
const TYPED: Readonly<Record<ProviderName, RegExp>> = {
  stripe: /^pm_1\w{1,200}$/,
  braintree: /^tokencc_\w{1,200}$/,
}

export function parseToken(entry: CardEntry, value: string | null): string {
  const token = value ?? ''
  const isGood =
    entry.kind === 'test'
      ? findTestCard(entry.provider, token) !== null || TYPED[entry.provider].test(token)
      : TOKENS[entry.provider].test(token)
  if (isGood) return token
  throw new BadChoice(entry.kind === 'test' ? 'problem.testCard' : 'problem.enterCard')
}
