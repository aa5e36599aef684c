import { type CliCommand, readTextFlag, UsageError } from '../command.ts'
import { CONTROL_FLAGS, postToControlRoom, readControlRoom } from '../control-client.ts'
import { didYouMean } from '../did-you-mean.ts'

interface Triggered {
  readonly events: readonly { readonly id: string; readonly type: string }[]
  readonly deliveries: number
}

export const triggerCommand: CliCommand = {
  summary: 'causes an event, so that its webhooks are sent',
  usage: 'EVENT',
  maxWords: 1,
  flags: {
    customer: { value: '<id>', help: 'customer that the event is about; default: a new one' },
    subject: {
      value: '<id>',
      help: 'Braintree: id of the subscription or transaction, or token, to notify about',
    },
    list: { help: 'list the events that can be triggered' },
    ...CONTROL_FLAGS,
  },
  notes: `
Stripe events are caused by real API calls: invoice.payment_failed creates a customer whose card is
declined, and a subscription. Braintree notifications are about the newest matching object, or a new
one. Webhooks go to every registered URL: register one with --stripe-webhook or --braintree-webhook
when starting the sandbox, or through the API.`,
  async run(input, { stdout }) {
    const { triggers } = await readControlRoom<{ triggers: string[] }>(input, '/webhooks.json')
    if (input.flags.list === true) {
      stdout.write(`${triggers.join('\n')}\n`)
      return
    }
    const [event] = input.words
    if (event === undefined) {
      throw new UsageError(
        'Name an event: tollgate-sandbox trigger invoice.paid. trigger --list shows all.',
      )
    }
    if (!triggers.includes(event)) {
      const near = didYouMean(event, triggers)
      throw new UsageError(`${event} cannot be triggered.${near} trigger --list shows all.`)
    }
    const form: Record<string, string> = { event }
    for (const name of ['customer', 'subject']) {
      const value = readTextFlag(input, name)
      if (value !== null) form[name] = value
    }
    const done = await postToControlRoom<Triggered>(input, '/trigger', form)
    stdout.write(input.flags.json === true ? `${JSON.stringify(done)}\n` : describe(done, event))
  },
}

function describe({ events, deliveries }: Triggered, triggeredType: string): string {
  const lines = events.map(
    ({ id, type }) => `${type === triggeredType ? '→' : ' '} ${type}  ${id}\n`,
  )
  const sent =
    deliveries === 0
      ? 'No webhook was sent, because no URL is registered for this event.\n'
      : `${deliveries} ${deliveries === 1 ? 'webhook was' : 'webhooks were'} sent. The control room shows the responses.\n`
  return lines.join('') + sent
}
