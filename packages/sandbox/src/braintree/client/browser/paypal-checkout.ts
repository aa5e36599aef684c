/**
 * JavaScript that replaces `braintree.paypalCheckout` in a page, for billing agreements. It loads
 * the button from the replacement for PayPal's own script (`paypal-sdk.ts`).
 */
export const PAYPAL_CHECKOUT_SCRIPT = `
  const SDK_OPTIONS = ['client-id', 'vault', 'intent', 'currency', 'components', 'locale', 'disable-funding', 'enable-funding', 'dataAttributes']

  function createPayPalCheckout(client) {
    const { gatewayConfiguration } = client.getConfiguration()
    const { clientId } = gatewayConfiguration.paypal

    /** Loads PayPal's script. Like Braintree's own it waits for ever when that cannot be loaded. */
    const load = (given = {}) =>
      new Promise((resolve) => {
        checkOptions('loadPayPalSDK()', given, SDK_OPTIONS)
        const { dataAttributes = {}, ...options } = given
        const intent = options.vault ? 'tokenize' : 'authorize'
        const query = new URLSearchParams({ components: 'buttons', intent, 'client-id': clientId, ...options })
        const script = document.createElement('script')
        for (const [name, value] of Object.entries(dataAttributes)) {
          script.setAttribute('data-' + name.replace(/^data-/, ''), value)
        }
        script.onload = () => resolve(instance)
        script.src = gatewayConfiguration.assetsUrl + '/paypal/sdk/js?' + query
        document.head.prepend(script)
      })

    async function createPayment(options = {}) {
      if (options.flow === 'checkout') throw notImitated('the flow checkout of createPayment()')
      if (options.flow !== 'vault') throw failure('PAYPAL_FLOW_OPTION_REQUIRED')
      try {
        const endpoint = 'paypal_hermes/setup_billing_agreement'
        const { agreementSetup } = await client.request({ method: 'post', endpoint, data: options })
        return agreementSetup.tokenId
      } catch (error) {
        throw failure('PAYPAL_FLOW_FAILED', { originalError: error })
      }
    }

    async function tokenizePayment({ billingToken, vault = true }) {
      try {
        const paypalAccount = { billingAgreementToken: billingToken, correlationId: billingToken, options: { validate: vault } }
        const endpoint = 'payment_methods/paypal_accounts'
        const { paypalAccounts } = await client.request({ method: 'post', endpoint, data: { paypalAccount } })
        const { nonce, type, details } = paypalAccounts[0]
        return { nonce, type, details: details.payerInfo }
      } catch (error) {
        throw failure('PAYPAL_ACCOUNT_TOKENIZATION_FAILED', { originalError: error })
      }
    }

    const instance = component('paypalCheckout', {
      loadPayPalSDK: either(load),
      createPayment: either(createPayment),
      tokenizePayment: either(tokenizePayment),
      getClientId: either(() => clientId),
    })
    return instance
  }

  root.paypalCheckout = {
    VERSION,
    isSupported: () => true,
    create: either(async (options = {}) => {
      checkOptions('paypalCheckout.create()', options, ['authorization', 'client', 'merchantAccountId'])
      const client = await clientOf(options)
      if (!client.getConfiguration().gatewayConfiguration.paypalEnabled) throw failure('PAYPAL_NOT_ENABLED')
      return createPayPalCheckout(client)
    }),
  }
`
