import { type Command, textFlag, UsageError } from '../command.ts'
import { CONTROL_FLAGS, postToControlRoom, readControlRoom } from '../control-client.ts'
import { didYouMean } from '../did-you-mean.ts'

interface Triggered {
  readonly events: readonly { readonly id: string; readonly type: string }[]
  readonly deliveries: number
}

export const trigger: Command = {
  summary: 'makes something happen, so that its webhook is sent',
  usage: 'EVENT',
  mostWords: 1,
  flags: {
    customer: { value: '<id>', help: 'to this customer; without it one is made for the purpose' },
    subject: { value: '<id>', help: 'Braintree: about this subscription, transaction or token' },
    list: { help: 'print the events that can be triggered' },
    ...CONTROL_FLAGS,
  },
  notes: `
At Stripe it really happens, by calls such as yours: invoice.payment_failed makes a customer whose
card is declined, and subscribes it. At Braintree the notification is sent about the newest subject
there is. Whoever is registered gets the webhook; register with --stripe-webhook, or through the API.`,
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
      const value = textFlag(input, name)
      if (value !== null) form[name] = value
    }
    const done = await postToControlRoom<Triggered>(input, '/trigger', form)
    stdout.write(input.flags.json === true ? `${JSON.stringify(done)}\n` : describe(done, event))
  },
}

function describe({ events, deliveries }: Triggered, wanted: string): string {
  const lines = events.map(({ id, type }) => `${type === wanted ? '→' : ' '} ${type}  ${id}\n`)
  const sent =
    deliveries === 0
      ? 'No webhook was sent, because no address is registered for it.\n'
      : `${deliveries} ${deliveries === 1 ? 'webhook was' : 'webhooks were'} sent; the control room shows what became of them.\n`
  return lines.join('') + sent
}
