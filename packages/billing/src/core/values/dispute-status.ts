/**
 * Status of a dispute. `inquiry`: the bank asks for information, and no money is taken. `open`: the
 * dispute is not decided yet. `won`: decided for the merchant. `lost`: decided for the customer.
 */
export type DisputeStatus = 'inquiry' | 'open' | 'won' | 'lost'
