import { billingHandlers } from '@/lib/tollgate'

export const { GET } = billingHandlers
