import { command } from '../command.ts'
import * as option from '../options.ts'

export const sandboxCommand = command({
  summary: 'run only the sandbox for Stripe and Braintree, for a service started elsewhere',
  options: {
    stripePort: option.port('port of the Stripe API; default 12111'),
    braintreePort: option.port('port of the Braintree API; default 12222'),
    controlPort: option.port('port of the control room, its web page; default 12333'),
    state: option.text('<file>', 'load the state from this file, and save it there'),
    service: option.text('<url>', 'base URL of the service that receives the webhooks'),
  },
  async run({ options }, context) {
    const { json } = context
    const { state } = options
    const service = options.service?.replace(/\/+$/, '') ?? null
    const hook = `${service}/stripe/webhook`
    const { startSandbox } = await import('@tollgate/sandbox')
    const running = await orPortTaken(
      startSandbox({
        stripe: {
          port: options.stripePort ?? 12_111,
          webhooks: service === null ? [] : [{ url: hook }],
        },
        braintree: {
          port: options.braintreePort ?? 12_222,
          webhooks: service === null ? [] : [`${service}/braintree/webhook`],
        },
        controlRoom: { port: options.controlPort ?? 12_333 },
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
})

async function orPortTaken<T>(starting: Promise<T>): Promise<T> {
  try {
    return await starting
  } catch (error) {
    const { code, port } = error as NodeJS.ErrnoException & { readonly port?: number }
    if (code !== 'EADDRINUSE') throw error
    const fix =
      'stop the program that uses it, or choose another with --stripe-port, --braintree-port or --control-port'
    throw new Error(`Port ${port} is taken; ${fix}`, { cause: error })
  }
}
