import { type Command, type CommandInput, textOption, UsageError } from '../command.ts'

export const sandbox: Command = {
  summary: 'run only Stripe and Braintree, for a service started elsewhere',
  options: [
    { flags: '--stripe-port <port>', description: 'default 12111' },
    { flags: '--braintree-port <port>', description: 'default 12222' },
    { flags: '--control-port <port>', description: 'of its web page; default 12333' },
    { flags: '--state <file>', description: 'keep the state there, and start from it' },
    { flags: '--service <url>', description: "send webhooks to the service's own addresses" },
  ],
  async run(input, context) {
    const { json } = context
    const state = textOption(input, 'state')
    const service = textOption(input, 'service')?.replace(/\/+$/, '') ?? null
    const hook = `${service}/stripe/webhook`
    const { startSandbox } = await import('@tollgate/sandbox')
    const running = await orPortTaken(
      startSandbox({
        stripe: {
          port: portOption(input, 'stripePort', 12_111),
          webhooks: service === null ? [] : [{ url: hook }],
        },
        braintree: {
          port: portOption(input, 'braintreePort', 12_222),
          webhooks: service === null ? [] : [`${service}/braintree/webhook`],
        },
        controlRoom: { port: portOption(input, 'controlPort', 12_333) },
        ...(state === null ? {} : { stateFile: state }),
      }),
    )
    const { stripe, braintree, controlRoom } = running
    const webhook = stripe.webhooks().find(({ url }) => url === hook)
    const variables = {
      STRIPE_SECRET: stripe.apiKey,
      STRIPE_WEBHOOK_SECRET: webhook?.secret ?? null,
      STRIPE_API_URL: stripe.url,
      BRAINTREE_ENVIRONMENT: 'sandbox',
      BRAINTREE_MERCHANT_ID: braintree.config.merchantId,
      BRAINTREE_PUBLIC_KEY: braintree.config.publicKey,
      BRAINTREE_PRIVATE_KEY: braintree.config.privateKey,
      BRAINTREE_API_URL: braintree.url,
    }
    const control = controlRoom?.url ?? null
    const lines = Object.entries(variables).flatMap(([name, value]) =>
      value === null ? [] : [`${name}=${value}`],
    )
    const text = `Control room  ${control}\n\nFor the service:\n\n${lines.join('\n')}\n`
    context.print(json ? `${JSON.stringify({ control_room: control, variables })}\n` : text)
    await new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
    })
    await running.close()
    return null
  },
}

async function orPortTaken<T>(starting: Promise<T>): Promise<T> {
  try {
    return await starting
  } catch (error) {
    const { code, port } = error as NodeJS.ErrnoException & { readonly port?: number }
    if (code !== 'EADDRINUSE') throw error
    const fix =
      'stop what uses it, or give another by --stripe-port, --braintree-port or --control-port'
    throw new Error(`Port ${port} is taken; ${fix}`, { cause: error })
  }
}

function portOption(input: CommandInput, name: string, fallback: number): number {
  const given = textOption(input, name)
  if (given === null) return fallback
  const port = Number(given)
  if (/^\d+$/.test(given) && port <= 65_535) return port
  throw new UsageError(`A port is a whole number from 0 to 65535, not ${given}`)
}
