import { billingHandlers } from '@/lib/tollgate'

export const { POST } = billingHandlers
