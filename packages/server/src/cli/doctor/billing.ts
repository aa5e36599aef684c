import type { Billing } from '@tollgate/billing'
import Stripe from 'stripe'
import type { Providers } from '../../billing.ts'
import type { Config } from '../../config/config.ts'
import { type Finding, ok, problem, reason, warning } from './finding.ts'

/** Keys that work, and what must have been made in the control panels: the plan credit. */
export async function checkProviders(billing: Billing, providers: Providers): Promise<Finding[]> {
  const names = Object.keys(providers).join(' and ')
  try {
    const missing = await billing.check()
    if (missing.length === 0) return [ok('providers', `${names} answer, nothing is missing there`)]
    return missing.map((text) => {
      const [what = text, ...fix] = text.split(': ')
      return problem('providers', what, fix.join(': '))
    })
  } catch (error) {
    const fix = 'Check the keys in STRIPE_* and BRAINTREE_*, and that this machine may reach them.'
    return [problem('providers', reason(error), fix)]
  }
}

/** Whether the plans that are offered exist at Stripe. Braintree's own answer comes with the sale. */
export async function checkPrices({ stripe }: Providers, config: Config): Promise<Finding[]> {
  if (!stripe) return []
  const client = new Stripe(stripe.secret, { ...stripe.config, maxNetworkRetries: 0 })
  const missing: string[] = []
  try {
    for (const plan of config.settings.plans) {
      if (!(await hasPrice(client, plan.stripe))) missing.push(plan.stripe)
    }
  } catch (error) {
    return [warning('plans', `Stripe could not be asked for their prices: ${reason(error)}`)]
  }
  if (missing.length === 0)
    return [ok('plans', `${config.settings.plans.length} are priced at Stripe`)]
  const fix =
    'Create them there, or write their ids into `stripe` of each plan in tollgate.config.ts.'
  return [problem('plans', `Stripe has no price ${missing.join(', ')}`, fix)]
}

async function hasPrice(client: Stripe, id: string): Promise<boolean> {
  try {
    await client.prices.retrieve(id)
    return true
  } catch (error) {
    if (error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode === 404) {
      return false
    }
    throw error
  }
}

/** Whether events arrive: the routes answer, they are registered, and nothing lies about. */
export async function checkWebhooks(options: {
  readonly billing: Billing
  readonly providers: Providers
  readonly config: Config
  readonly serviceAnswers: boolean
}): Promise<Finding[]> {
  const { billing, providers, config, serviceAnswers } = options
  const findings: Finding[] = []
  const dead = await billing.webhooks.deadLetters()
  if (dead.length > 0) {
    const fix =
      'Their reasons stand in billing_webhooks.last_error; then run: tollgate billing sync'
    findings.push(problem('webhooks', `${dead.length} events were given up on`, fix))
  }
  if (config.mode === 'production' && serviceAnswers) {
    for (const name of Object.keys(providers)) {
      findings.push(await checkRoute(`${config.url}/${name}/webhook`))
    }
    findings.push(...(await checkRegistration(billing)))
  }
  if (findings.length === 0) findings.push(ok('webhooks', 'No event was given up on'))
  return findings
}

/** An event that nobody signed must be refused, and by us. */
async function checkRoute(url: string): Promise<Finding> {
  try {
    const response = await fetch(url, { method: 'POST', body: '{}', redirect: 'manual' })
    if (response.status === 400) return ok('webhooks', `${url} answers and wants a signature`)
    const fix = 'Let the proxy pass this path on to the service, for POST and unchanged.'
    return problem('webhooks', `${url} answers ${response.status}`, fix)
  } catch (error) {
    return problem('webhooks', `${url}: ${reason(error)}`, 'Let the proxy pass this path on.')
  }
}

/** By the rule of `tollgate billing webhooks check`. */
async function checkRegistration(billing: Billing): Promise<Finding[]> {
  try {
    const reports = await billing.endpoints.check()
    return reports.flatMap(({ provider, url, id, problems, note }) => {
      const fix = `Change it there, or run: tollgate billing webhooks create${id === null ? '' : ' --replace'}, with --usage for usage that is dropped. The secret that it shows goes into ${provider.toUpperCase()}_WEBHOOK_SECRET.`
      const isWell = id !== null && problems.length === 0
      return [
        ...problems.map((text) => problem('webhooks', text, fix)),
        ...(isWell ? [ok('webhooks', `${provider} sends its events to ${url}`)] : []),
        ...(note === null ? [] : [ok('webhooks', note)]),
      ]
    })
  } catch (error) {
    return [warning('webhooks', `The provider does not tell its endpoints: ${reason(error)}`)]
  }
}
