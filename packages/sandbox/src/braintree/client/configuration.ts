import { readMerchantSettings } from '../state/context.ts'
import type { ClientCall, ClientResponse } from './call.ts'

/**
 * Returns the configuration that Braintree's browser scripts load first: the available payment
 * methods and the URLs to call.
 */
export function readConfiguration({ context, authorization }: ClientCall): ClientResponse {
  const { merchantId } = context.keys
  const { challenges, paypal, threeDSecure } = readMerchantSettings(context)
  const clientApiUrl = `${context.baseUrl}/merchants/${merchantId}/client_api`
  const value = {
    environment: 'development',
    clientApiUrl,
    assetsUrl: context.baseUrl,
    merchantId,
    merchantAccountId: authorization.merchantAccountId,
    challenges,
    creditCards: {
      supportedCardTypes: ['Visa', 'MasterCard', 'American Express', 'Discover', 'JCB', 'Maestro'],
    },
    paypalEnabled: paypal,
    paypal: {
      environment: 'offline',
      environmentNoNetwork: false,
      clientId: 'sandbox_paypal_client_id',
      displayName: merchantId,
      billingAgreementsEnabled: true,
    },
    threeDSecureEnabled: threeDSecure,
    ...(threeDSecure ? { threeDSecure: { cardinalAuthenticationJWT: 'sandbox' } } : {}),
    analytics: {},
  }
  return { status: 200, value }
}
