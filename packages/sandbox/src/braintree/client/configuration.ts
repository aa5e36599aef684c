import type { ClientCall, ClientResponse } from './call.ts'

/** What a script asks first: what this merchant can take, and where to send it. */
export function configuration({ context, authorization }: ClientCall): ClientResponse {
  const { merchantId } = context.keys
  const clientApiUrl = `${context.baseUrl}/merchants/${merchantId}/client_api`
  const value = {
    environment: 'development',
    clientApiUrl,
    assetsUrl: context.baseUrl,
    merchantId,
    merchantAccountId: authorization.merchantAccountId,
    challenges: [],
    creditCards: {
      supportedCardTypes: ['Visa', 'MasterCard', 'American Express', 'Discover', 'JCB', 'Maestro'],
    },
    paypalEnabled: true,
    paypal: { environment: 'offline', displayName: merchantId, billingAgreementsEnabled: true },
    threeDSecureEnabled: false,
    analytics: {},
  }
  return { status: 200, value }
}
