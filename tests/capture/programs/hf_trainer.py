"""transformers' Trainer on a small model made from its configuration: nothing is downloaded."""

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Sentences(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, i):
        ids = torch.randint(0, 99, (12,), generator=torch.Generator().manual_seed(i))
        return {
            "input_ids": ids,
            "attention_mask": torch.ones(12, dtype=torch.long),
            "labels": i % 2,
        }


if __name__ == "__main__":
    config = BertConfig(
        vocab_size=99,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    arguments = TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=8,
        num_train_epochs=1,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
        logging_steps=10,
    )
    trainer = Trainer(BertForSequenceClassification(config), arguments, train_dataset=Sentences())
    print("steps", trainer.train().global_step)
