import { billingHandlers } from '@/lib/tollgate'

export const { GET, POST, PUT, PATCH, DELETE } = billingHandlers
