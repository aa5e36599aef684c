import type { ProviderName, ReplayOptions } from '@tollgate/billing'
import { isBillingError } from '@tollgate/billing'
import {
  type Command,
  type CommandInput,
  dateOption,
  textOption,
  UsageError,
} from '../../command.ts'
import { withBilling } from './with-billing.ts'

const PROVIDER = { flags: '--provider <name>', description: 'one of those that are configured' }

/** What the person at the terminal has asked for wrongly is said without a stack. */
async function orUsageError<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (isBillingError(error, 'invalid_argument') || isBillingError(error, 'unsupported')) {
      throw new UsageError(error.message, { cause: error })
    }
    throw error
  }
}

function providerOf(input: CommandInput): { provider?: ProviderName } {
  const provider = textOption(input, 'provider')
  return provider === null ? {} : { provider: provider as ProviderName }
}

/** Which variable the service reads it from. */
function secretVariableOf(provider: ProviderName): string {
  return `${provider.toUpperCase()}_WEBHOOK_SECRET`
}

export const billingWebhooksCheck: Command = {
  summary: 'what is registered at the providers for their events, and what is missing',
  async run(_input, context) {
    const config = await context.config(['provider_keys'])
    const reports = await withBilling(config, (billing) => orUsageError(billing.endpoints.check()))
    const lines = reports.flatMap(({ provider, url, id, problems, superfluous, usage, note }) => [
      `${provider}: ${id ?? 'nothing known'} for ${url}`,
      ...(usage?.id ? [`${provider}: ${usage.id} for usage that is dropped`] : []),
      ...problems.map((problem) => `  ${problem}`),
      ...(superfluous.length > 0 ? [`  Nobody handles ${superfluous.join(', ')}.`] : []),
      ...(note === null ? [] : [`  ${note}`]),
    ])
    const isWell = reports.every(({ problems }) => problems.length === 0)
    return { json: reports, text: lines.join('\n'), exitCode: isWell ? 0 : 1 }
  },
}

export const billingWebhooksCreate: Command = {
  summary: 'register the address for events at the provider, and show its secret',
  options: [
    PROVIDER,
    { flags: '--url <address>', description: 'another address than that of the service' },
    { flags: '--replace', description: 'remove what is registered for the same address' },
    {
      flags: '--usage',
      description: 'for events about usage that is dropped, beside the others',
    },
  ],
  async run(input, context) {
    const config = await context.config(['provider_keys'])
    const url = textOption(input, 'url')
    const wanted = {
      ...providerOf(input),
      ...(url === null ? {} : { url }),
      replace: input.options.replace === true,
      usage: input.options.usage === true,
    }
    const made = await withBilling(config, (billing) =>
      orUsageError(billing.endpoints.create(wanted)),
    )
    const variable = secretVariableOf(made.provider)
    const text = [
      `${made.provider} sends events to ${made.url} (${made.id}).`,
      ...(wanted.usage
        ? [`Its secret is shown this once. Put it behind the one that is there, after a comma:`]
        : ['Its secret is shown this once:']),
      `  ${variable}=${wanted.usage ? `…,${made.secret}` : made.secret}`,
    ]
    return { json: made, text: text.join('\n') }
  },
}

export const billingWebhooksReplay: Command = {
  summary: 'handle events again: one by its id, or those of a time',
  options: [
    { flags: '--id <event>', description: "the provider's id of one" },
    { flags: '--from <date>', description: 'not before, such as 2026-05-01T10:00:00Z' },
    { flags: '--to <date>', description: 'not after' },
    { flags: '--type <event>', description: 'such as invoice.paid' },
    { flags: '--source <name>', description: 'inbox (default), or provider: what it still has' },
    PROVIDER,
  ],
  async run(input, context) {
    const config = await context.config(['providers'])
    const wanted = replayOf(input)
    const replayed = await withBilling(config, async (billing) => {
      const count = await orUsageError(billing.webhooks.replay(wanted))
      await billing.webhooks.process()
      return count
    })
    const isMissing = wanted.id !== undefined && replayed === 0
    const text = isMissing
      ? `There is no event "${wanted.id}" here. \`--source provider\` asks the provider for it`
      : `${replayed} events handled again`
    return { json: { replayed }, text, exitCode: isMissing ? 1 : 0 }
  },
}

function replayOf(input: CommandInput): ReplayOptions {
  const [id, type, source] = ['id', 'type', 'source'].map((name) => textOption(input, name))
  if (source !== null && source !== 'inbox' && source !== 'provider') {
    throw new UsageError('--source is inbox or provider')
  }
  const from = dateOption(input, 'from')
  const to = dateOption(input, 'to')
  if (!id && !from) throw new UsageError('Give --id or --from')
  return {
    ...providerOf(input),
    ...(id ? { id } : {}),
    ...(type ? { type } : {}),
    ...(source ? { source } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
  }
}
