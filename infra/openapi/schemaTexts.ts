import type { ErrorBody } from '../../shared/contract/errors/errorBody.ts';
import type { InventoryItem } from '../../shared/contract/schemas/inventory.ts';
import type { InventoryUpdate } from '../../shared/contract/schemas/inventoryUpdate.ts';
import type { Order } from '../../shared/contract/schemas/order.ts';
import type { Pet } from '../../shared/contract/schemas/pet.ts';

/** What the document says of a schema, and of each of its members. */
export interface Described {
  readonly about: string;
  readonly members?: Readonly<Record<string, string>>;
}

interface DescribedObject<Value> {
  readonly about: string;
  readonly members: Readonly<Record<keyof Value, string>>;
}

const entry = {
  petId: 'The id of the pet; exact over the whole range of int64.',
  quantity: 'The stock count at present.',
  status: 'Where the sale of the pet stands. No update of the stock changes it.',
};

export const schemaTexts = {
  InventoryItem: { about: 'The stock of one pet.', members: entry },
  ListedInventoryItem: {
    about: 'The stock of one pet in a list.',
    members: {
      ...entry,
      etag: 'With `include=etag`: the tag of the entry, exactly as `If-Match` takes it. Opaque.',
    },
  },
  PetStatus: { about: 'Closed: no other value comes within this major version.' },
  InventoryUpdate: {
    about: 'What is to be changed. Members other than `quantity` are ignored.',
    members: { quantity: 'The new stock count, in place of the present one.' },
  },
  Pet: {
    about: 'A pet.',
    members: {
      id: 'Its id; exact over the whole range of int64.',
      name: 'What it is called.',
      status: 'Where its sale stands.',
      category: 'The kind of pet.',
      photoUrls: 'Where its photos are.',
      tags: 'What else it is found by.',
    },
  },
  Order: {
    about: 'An order.',
    members: {
      id: 'Its id; exact over the whole range of int64.',
      petId: 'The id of the pet that was ordered.',
      quantity: 'How many were ordered.',
      status: 'How far the order has come.',
      placedAt: 'When it was placed (RFC 3339).',
      shipDate: 'When it is to be shipped, or was (RFC 3339).',
      complete: 'Whether nothing is left to do for it.',
    },
  },
  Error: {
    about: 'The body of every error.',
    members: {
      code: 'What went wrong, for a program: the name of a section of [Errors](errors.html). Closed.',
      message: 'What was wrong and what would be right, for a person. Its wording may change.',
      status: 'The status of the response.',
    },
  },
} satisfies {
  InventoryItem: DescribedObject<InventoryItem>;
  ListedInventoryItem: DescribedObject<InventoryItem & { etag: string }>;
  PetStatus: Described;
  InventoryUpdate: DescribedObject<InventoryUpdate>;
  Pet: DescribedObject<Pet>;
  Order: DescribedObject<Order>;
  Error: DescribedObject<ErrorBody>;
};
