import {
  type BillingEventType,
  billingEventTypes,
  type DeliveryEndpoint,
  isDeliverySecret,
} from '@tollgate/billing'
import { z } from 'zod'
import { certificates, network } from './outgoing.ts'

/** Where the service sends events of billing, for an application in whatever language. */
export interface DeliverySettings {
  /** Each gets the events that it wants. */
  readonly endpoints: readonly DeliveryEndpoint[]
  /** Addresses and networks that events may be sent to though they are not public. */
  readonly privateAddresses: readonly string[]
  /** Certificates to trust beside those of Node, as PEM. */
  readonly certificates: readonly string[]
}

export const eventTypes = billingEventTypes as [BillingEventType, ...BillingEventType[]]

export const SECRET_WANTED =
  'whsec_ and 24 to 64 bytes in base64: echo "whsec_$(openssl rand -base64 32)"'

const secret = z.string().refine(isDeliverySecret, { error: `expected ${SECRET_WANTED}` })

const endpointShape = z.strictObject({
  url: z.url({
    protocol: /^https?$/,
    error: 'expected an address such as https://app.example.com/events',
  }),
  secret: z.union([secret, z.array(secret).min(1)], { error: `expected ${SECRET_WANTED}` }),
  types: z
    .array(z.enum(eventTypes, { error: `expected some of ${eventTypes.join(', ')}` }))
    .optional(),
  name: z.string().min(1).max(255).optional(),
})

export const deliveriesShape = z.strictObject({
  endpoints: z.array(endpointShape).default([]),
  privateAddresses: z.array(network).default([]),
  certificates,
})
