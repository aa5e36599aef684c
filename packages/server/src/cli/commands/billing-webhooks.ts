import { isBillingError, type NewEndpoint, type ProviderName } from '@tollgate/billing'
import { type Commands, command } from '../command.ts'
import { formatCount } from '../count.ts'
import { withBilling } from '../open-billing.ts'
import { withOperations } from '../open-operations.ts'
import type { CommandOption } from '../options.ts'
import * as option from '../options.ts'
import { UsageError } from '../usage-error.ts'

/** Any name: billing knows the configured providers and rejects all others. */
const provider = option.text(
  '<name>',
  'a configured provider',
) as CommandOption<ProviderName | null>

export const webhookCommands: Commands = {
  'billing webhooks check': command({
    summary: 'check the webhook endpoints at the providers, and show what is missing',
    withConfig: true,
    async run(_input, context) {
      const reports = await withBilling(context, ['provider_keys'], (billing) =>
        withUsageErrors(billing.endpoints.check()),
      )
      const lines = reports.flatMap(({ provider, url, id, problems, superfluous, usage, note }) => [
        `${provider}: ${id ?? 'no known endpoint'} for ${url}`,
        ...(usage?.id ? [`${provider}: ${usage.id} for dropped usage`] : []),
        ...problems.map((problem) => `  ${problem}`),
        ...(superfluous.length > 0 ? [`  No handler for ${superfluous.join(', ')}.`] : []),
        ...(note === null ? [] : [`  ${note}`]),
      ])
      const isWell = reports.every(({ problems }) => problems.length === 0)
      return { json: reports, text: lines.join('\n'), exitCode: isWell ? 0 : 1 }
    },
  }),
  'billing webhooks create': command({
    summary: 'register the webhook endpoint at the provider, and show its secret',
    withConfig: true,
    options: {
      provider,
      url: option.text('<address>', "URL to register instead of the service's own"),
      replace: option.flag('replace an endpoint with the same URL'),
      usage: option.flag('register an additional endpoint for events about dropped usage'),
    },
    async run({ options }, context) {
      // Missing keys are reported before the database is opened.
      await context.requireSettings(['provider_keys'])
      const made = await withOperations(context, { needsUrl: true }, ({ perform }) =>
        perform<NewEndpoint>('webhooks.createEndpoint', definedOptions(options)),
      )
      const variable = getSecretVariable(made.provider)
      const text = [
        `${made.provider} sends events to ${made.url} (${made.id}).`,
        ...(options.usage
          ? [`Its secret is shown only once. Append it to the existing one, after a comma:`]
          : ['Its secret is shown only once:']),
        `  ${variable}=${options.usage ? `…,${made.secret}` : made.secret}`,
      ]
      return { json: made, text: text.join('\n') }
    },
  }),
  'billing webhooks replay': command({
    summary: 'handle events again: one by its id, or all in a period',
    withConfig: true,
    options: {
      id: option.text('<event>', "the provider's id of one event"),
      from: option.date('<date>', 'earliest date, such as 2026-05-01T10:00:00Z'),
      to: option.date('<date>', 'latest date'),
      type: option.text('<event>', 'only events of this type, such as invoice.paid'),
      source: option.choice<'inbox' | 'provider'>(
        ['inbox', 'provider'],
        '<name>',
        'inbox (default), or provider: events that the provider still stores',
      ),
      provider,
    },
    async run({ options }, context) {
      const { id, from } = options
      if (!id && !from) throw new UsageError('Give --id or --from')
      await context.requireSettings(['providers'])
      const { replayed } = await withOperations(
        context,
        { needsUrl: true },
        async ({ perform, billing }) => {
          const wanted = definedOptions(options)
          const result = await perform<{ replayed: number }>('webhooks.replay', wanted)
          await (await billing.provider()).process()
          return result
        },
      )
      const isMissing = id !== null && replayed === 0
      const text = isMissing
        ? `There is no event "${id}" in the inbox. \`--source provider\` requests it from the provider`
        : `${formatCount(replayed, 'event', 'events')} handled again`
      return { json: { replayed }, text, exitCode: isMissing ? 1 : 0 }
    },
  }),
}

/**
 * Turns billing's errors about wrong arguments into a `UsageError`, which is printed without a
 * stack trace.
 */
async function withUsageErrors<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (isBillingError(error, 'invalid_argument') || isBillingError(error, 'unsupported')) {
      throw new UsageError(error.message)
    }
    throw error
  }
}

/** Name of the environment variable for the provider's webhook secret. */
function getSecretVariable(provider: ProviderName): string {
  return `${provider.toUpperCase()}_WEBHOOK_SECRET`
}

/** Keeps only the options that were set on the command line. */
function definedOptions<T extends object>(
  options: T,
): { [Name in keyof T]?: NonNullable<T[Name]> } {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== null),
  ) as ReturnType<typeof definedOptions<T>>
}
