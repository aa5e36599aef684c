import { z } from 'zod'
import { isNetwork } from './addresses.ts'

export const network = z
  .string()
  .refine(isNetwork, { message: 'expected an address or a network such as 10.0.0.0/8' })

export const certificates = z
  .array(z.string().includes('-----BEGIN CERTIFICATE-----', { error: 'expected a PEM' }))
  .default([])
